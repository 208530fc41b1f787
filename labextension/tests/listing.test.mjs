// Rows side by side, what hides, searching, and the messages of listings.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readListingMessage } from '../lib/kernel/listing.js';
import { findLines, foldOf, nextLine, plainText, rowOfLine, rowsOf, shownRows } from '../lib/listing/rows.js';

const line = (number, ...pieces) => ({ number, pieces, cell: [], label: '', linked: false });
const side = (...lines) => ({ title: '', lines });
const rows = Array.from({ length: 10 }, (_, k) => ({ kind: k === 5 ? 'changed' : 'same', before: k + 1, after: k + 1 }));
const folds = [{ first: 0, last: 2 }, { first: 8, last: 9 }];
const body = value => new DataView(new TextEncoder().encode(JSON.stringify(value)).buffer);

test('a text alone has one row a line, whatever its numbers', () => {
  assert.deepEqual(rowsOf(side(line(7, '', 'a'), line(9, '', 'b'))).map(row => row.after), [1, 2]);
  assert.equal(rowOfLine(rowsOf(side(line(7), line(9))), side(line(7), line(9)), 9), 1);
  assert.equal(rowOfLine([], side(), 1), -1);
});

test('folds hide their rows until they are opened', () => {
  const closed = shownRows(rows, folds, new Set());
  assert.deepEqual(closed.map(shown => shown.kind), ['fold', ...Array(5).fill('row'), 'fold']);
  assert.deepEqual([closed[0].rows, closed.at(-1).rows, closed[1].index], [3, 2, 3]);
  const opened = shownRows(rows, folds, new Set([0]));
  assert.equal(opened.length, 9);
  assert.deepEqual(opened.slice(0, 3).map(shown => shown.index), [0, 1, 2]);
  assert.equal(shownRows(rows, folds, new Set([0, 1])).length, 10);
});

test('a hidden row knows its fold', () => {
  assert.deepEqual([0, 2, 3, 8].map(row => foldOf(row, folds)), [0, 0, -1, 1]);
});

test('a search ignores the colours and the size of letters', () => {
  const lines = [line(1, 'keyword', 'const', '', ' double X'), line(2, '', 'none'), line(3, 'type', 'DOU', '', 'BLE')];
  assert.equal(plainText(lines[0]), 'const double X');
  assert.deepEqual(findLines(lines, 'double'), [1, 3]);
  assert.deepEqual(findLines(lines, 't d'), [1]);
  assert.deepEqual(findLines(lines, ''), []);
});

test('searching on goes round', () => {
  assert.equal(nextLine([2, 5, 9], 5, 1), 9);
  assert.equal(nextLine([2, 5, 9], 9, 1), 2);
  assert.equal(nextLine([2, 5, 9], 2, -1), 9);
  assert.equal(nextLine([2, 5, 9], 0, 1), 2);
  assert.equal(nextLine([], 1, 1), null);
});

test('a text message holds lines, rows and folds', () => {
  const sent = {
    title: 'wave', choices: [], buttons: [], parts: [], cell: [], before: null,
    after: { title: 'now', lines: [[1, ['type', 'int', '', ' a;'], [3], 'a', true]] },
    rows: [['added', 0, 1]], folds: [[0, 4]]
  };
  const read = readListingMessage({ type: 'text' }, [body(sent)]);
  assert.deepEqual(read.after.lines[0], { number: 1, pieces: ['type', 'int', '', ' a;'], cell: [3], label: 'a', linked: true });
  assert.deepEqual(read.rows, [{ kind: 'added', before: 0, after: 1 }]);
  assert.deepEqual(read.folds, [{ first: 0, last: 4 }]);
  assert.equal(read.before, null);
});

test('a table message holds columns and rows', () => {
  const sent = { title: 'plan', caption: '', choices: [], columns: [{ label: 'a', title: '', numeric: false }], rows: [{ name: 'r', cells: ['1'] }] };
  const read = readListingMessage({ type: 'table' }, [body(sent)]);
  assert.deepEqual(read.rows[0].cells, ['1']);
  assert.deepEqual(read.values, []);
});

test('selections, answers and errors are read', () => {
  const read = readListingMessage({ type: 'selected', text: 'v1', lines: [3], cell: [2], rows: ['r'], value: 'step/3' }, []);
  assert.deepEqual([read.lines, read.cell, read.rows, read.value], [[3], [2], ['r'], 'step/3']);
  for (const type of ['status', 'error', 'answer']) {
    assert.deepEqual(readListingMessage({ type, text: 'so' }, []), { type, text: 'so' });
  }
});

test('unknown and damaged messages are refused', () => {
  const broken = new DataView(new TextEncoder().encode('{"after": ').buffer);
  for (const content of [null, 3, [], {}, { type: 'later' }, { type: 'text' }, { type: 'table' }]) {
    assert.equal(readListingMessage(content, []), null);
  }
  assert.equal(readListingMessage({ type: 'text' }, [broken]), null);
  assert.equal(readListingMessage({ type: 'table' }, [body([1])]), null);
});
