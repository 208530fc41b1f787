"""Wrong edits of what reads arrays of a call by strides of their own; wrong places lie in a larger array."""

from tests.faults.fault import Fault

READ = "run.test_strided_arrays:test_a_program_reads_views_by_their_own_strides"

OF_STRIDES = (
    Fault("a row is read by the stride along another axis", "strides", "codegen.reads",
          "stride = self.strides(index)[along]", "stride = self.strides(index)[along - 1]",
          READ, ("every third",)),
    Fault("a row that goes backwards is read forwards", "strides", "codegen.reads",
          'f"{of.step}" if of.step and', 'f"{abs(of.step)}" if of.step and',
          READ, ("backwards",)),
    Fault("a view begins where the array does of which it is one", "strides", "backends.openmp_call",
          "self._slot_words[self._field_slots[name]] = values.ctypes.data",
          "self._slot_words[self._field_slots[name]] = (values if values.base is None else values.base).ctypes.data",
          READ, ("part of rows",)),
    Fault("strides stand in the order of memory", "strides", "backends.openmp_call",
          "for stride in values.strides]", "for stride in sorted(values.strides)[::-1]]",
          READ, ("transposed",)),
    Fault("a computed place is one of a dense array", "strides", "codegen.reads",
          "strides = self.strides(index) if index in self.scope.strided else None\n        shape",
          "strides = None\n        shape",
          READ, ("part of rows",)),
    Fault("any step counts as known", "strides", "planning.strided",
          "step if step in _KNOWN else 0", "1",
          "run.test_strided_arrays:test_a_plan_says_which_arrays_are_strided"),
    Fault("elements that are apart are read where they lie, however often", "strides", "planning.strided",
          "len(loops) <= _MOST_LOOPS and", "True or",
          "run.test_strided_arrays:test_elements_that_are_apart_and_read_many_times_are_copied_once"),
    Fault("calls of a machine with views find memory of one without", "strides", "run.calling",
          "extents, *steps.items())", "extents)",
          "run.test_strided_arrays:test_machines_copy_no_view_that_they_read_once"),
    Fault("calls with views are taken for known ones without", "strides", "run.known_calls",
          "if dense else (name, array.dtype, array.shape, array.strides)", "if True else (name,)",
          "run.test_strided_arrays:test_machines_copy_no_view_that_they_read_once"),
    Fault("arrays of another type are taken for known ones", "strides", "run.known_calls",
          "key += (name, array.dtype, array.shape) if dense", "key += (name, array.shape) if dense",
          "run.test_known_calls:test_arrays_of_another_type_of_equal_size_are_converted"),
    Fault("what was converted counts as known", "strides", "run.known_calls",
          "array is value and (type(value) is np.ndarray or lies_on_device(value))", "True",
          "run.test_known_calls:test_lists_of_other_lengths_are_other_calls"),
)  # fmt: skip
