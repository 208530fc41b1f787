// Colour tables, numbers on axes, latest-wins and slider ranges.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { paint, readTable } from '../lib/field/colours.js';
import { stepsOf } from '../lib/field/keys.js';
import { atMostEvery, Latest } from '../lib/field/latest.js';
import { apart, beside, shareOf, short, ticks } from '../lib/field/numbers.js';
import { middleOf, placeOf, placesOf } from '../lib/field/places.js';
import { rangeOf } from '../lib/field/range.js';
import { Receipts } from '../lib/field/receipts.js';
import { Undrawn } from '../lib/field/undrawn.js';

const free = { least: null, above: null, most: null };
const hexadecimal = Array.from({ length: 256 }, (_, code) => code.toString(16).padStart(2, '0') + '80ff').join('');

test('a colour table keeps red, green and blue, opaque', () => {
  const bytes = new Uint8Array(readTable(hexadecimal).buffer);
  assert.deepEqual([...bytes.slice(0, 4)], [0, 0x80, 0xff, 255]);
  assert.deepEqual([...bytes.slice(4 * 255)], [255, 0x80, 0xff, 255]);
});

test('a table of another length, or with other digits, is refused', () => {
  assert.throws(() => readTable(hexadecimal.slice(6)));
  assert.throws(() => readTable('g' + hexadecimal.slice(1)));
});

test('each code becomes its colour', () => {
  const table = readTable(hexadecimal);
  const pixels = new Uint32Array(3);
  paint(Uint8Array.of(0, 255, 7), table, pixels);
  assert.deepEqual([...pixels], [table[0], table[255], table[7]]);
});

test('ticks are round, inside, few and ordered', () => {
  assert.deepEqual(ticks(0, 511, 6), [0, 200, 400]);
  assert.deepEqual(ticks(-1, 1, 5), [-1, -0.5, 0, 0.5, 1]);
  assert.deepEqual(ticks(1, -1, 5), [-1, -0.5, 0, 0.5, 1]);
  for (const [low, high] of [[1e-9, 3e-9], [-1e20, 1e20], [0.1, 0.3], [99, 101]]) {
    const found = ticks(low, high, 6);
    assert.ok(found.length >= 2 && found.length <= 7, `${found}`);
    assert.ok(found.every(value => value >= low - 1e-9 * (high - low) && value <= high + 1e-9 * (high - low)));
  }
});

test('ticks keep the least distance that is asked for', () => {
  assert.deepEqual(ticks(0, 2, 6, 1), [0, 1, 2]);
  assert.deepEqual(ticks(0, 511, 6, 1), [0, 200, 400]);
});

test('a range of one value has one tick, no range none', () => {
  assert.deepEqual(ticks(0.005, 0.955, 4), [0.2, 0.4, 0.6, 0.8]);
  assert.deepEqual(ticks(0.5, 1.5, 2), [1]);
  assert.deepEqual(ticks(3, 3, 5), [3]);
  assert.deepEqual(ticks(NaN, NaN, 5), []);
});

test('ends that hardly differ, or are as far apart as can be, are the ticks', () => {
  for (const [low, high] of [[1, 1 + 2 ** -52], [-1e308, 1e308], [0, 5e-324]]) {
    assert.deepEqual(ticks(low, high, 5), [low, high]);
    assert.deepEqual([low, high].map(value => shareOf(value, low, high)), [0, 1]);
  }
  assert.equal(shareOf(3, 3, 3), 0.5);
});

test('numbers are told apart', () => {
  assert.deepEqual(apart([1, 1 + 2 ** -52]), ['1', '1.0000000000000002']);
  assert.deepEqual(apart(ticks(101324.999, 101325.001, 4)), ['101324.999', '101325', '101325.001']);
  assert.deepEqual(apart([-1.00001e-7, -1e-7]), ['\u22121.00001e\u22127', '\u22121e\u22127']);
  assert.deepEqual(apart([0, 200, 400]), ['0', '200', '400']);
  assert.deepEqual(apart([3]), ['3']);
});

test('axes tell long numbers by their distance from a short one', () => {
  assert.deepEqual(beside([101324.9999, 101325, 101325.0001]), ['\u22121e\u22124', '101325', '+1e\u22124']);
  assert.deepEqual(beside([1, 1 + 2 ** -52]), ['1', '+2.22e\u221216']);
  assert.deepEqual(beside([101325.0000084, 101325.0000085]), ['\u2248101325', '+1e\u22127']);
  assert.deepEqual(beside([0, 200]), ['0', '200']);
  assert.deepEqual(beside([]), []);
});

test('numbers are short', () => {
  assert.equal(short(0), '0');
  assert.equal(short(0.1 + 0.2), '0.3');
  assert.equal(short(-1234.5), '\u22121235');
  assert.equal(short(1e20), '1e20');
  assert.equal(short(1.25e-7), '1.25e\u22127');
});

function receipts() {
  const told = [];
  const waiting = [];
  const clock = { now: 0 };
  const made = new Receipts(
    number => told.push(number),
    callback => waiting.push(callback),
    () => clock.now
  );
  const drawn = (number, milliseconds = 25) => {
    clock.now += milliseconds;
    made.drawn(number);
  };
  return { drawn, told, pass: () => waiting.splice(0).forEach(callback => callback()) };
}

test('of frames that follow each other quickly every third is answered, for all three', () => {
  const { drawn, told, pass } = receipts();
  [1, 2, 3, 4, 5, 6, 7].forEach(number => drawn(number));
  assert.deepEqual(told, [1, 4, 7]);
  pass();
  assert.deepEqual(told, [1, 4, 7]);
});

test('frames that none follows are answered after a while, for all of them', () => {
  const { drawn, told, pass } = receipts();
  [1, 2, 3].forEach(number => drawn(number));
  assert.deepEqual(told, [1]);
  pass();
  assert.deepEqual(told, [1, 3]);
});

test('frames that follow each other slowly are answered at once', () => {
  const { drawn, told } = receipts();
  [1, 2, 3].forEach(number => drawn(number, 100));
  assert.deepEqual(told, [1, 2, 3]);
});

test('a frame drawn in place of others is answered at once, for all of them', () => {
  const { drawn, told } = receipts();
  drawn(2);
  drawn(5);
  assert.deepEqual(told, [2, 5]);
});

test('a kernel process that counts anew is answered anew', () => {
  const { drawn, told, pass } = receipts();
  [1, 2, 3, 4, 1].forEach(number => drawn(number));
  pass();
  assert.deepEqual(told, [1, 4, 1]);
  drawn(2);
  pass();
  assert.deepEqual(told, [1, 4, 1, 2]);
});

test('only the latest of what arrives between two paintings is drawn', () => {
  const drawn = [];
  const waiting = [];
  const latest = new Latest(value => drawn.push(value), callback => waiting.push(callback));
  latest.put(1);
  latest.put(2);
  latest.put(3);
  assert.equal(waiting.length, 1);
  waiting.shift()();
  latest.put(4);
  waiting.shift()();
  assert.deepEqual(drawn, [3, 4]);
});

test('what was cleared is not drawn', () => {
  const waiting = [];
  const latest = new Latest(() => assert.fail('drawn'), callback => waiting.push(callback));
  latest.put(1);
  latest.clear();
  waiting.shift()();
});

test('a frame is told of with its picture, whichever comes first, and never after a later one', () => {
  const told = [];
  const undrawn = new Undrawn(frame => told.push(frame.number));
  undrawn.take({ number: 1 });
  undrawn.take({ number: 2 });
  assert.deepEqual(told, []);
  undrawn.drawn(2); // the first is never drawn
  assert.deepEqual(told, [2]);
  undrawn.take({ number: 1 });
  undrawn.drawn(4); // its picture came directly
  undrawn.take({ number: 3 });
  assert.deepEqual(told, [2]);
  undrawn.take({ number: 4 });
  undrawn.drawn(5);
  undrawn.take({ number: 6 });
  undrawn.drawn(6);
  assert.deepEqual(told, [2, 4, 6]);
});

test('words change at once, then at most so often, and end with the latest', () => {
  const seen = [];
  const waiting = [];
  let now = 5;
  const words = new Latest(value => seen.push([now, value]), atMostEvery(100, (callback, wait) => waiting.push([now + wait, callback]), () => now));
  const pass = until => {
    while (waiting.length && waiting[0][0] <= until) {
      const [at, callback] = waiting.shift();
      now = at;
      callback();
    }
    now = until;
  };
  for (let frame = 0; frame < 9; frame++) {
    pass(5 + 25 * frame);
    words.put(frame);
  }
  pass(1000);
  words.put('later');
  assert.deepEqual(seen, [[5, 0], [105, 3], [205, 7], [305, 8], [1000, 'later']]);
});

test('a slider holds its first value', () => {
  for (const value of [3.43, -2, 0, 1e-9]) {
    const range = rangeOf(value, 'float', free);
    assert.ok(range.low <= value && value <= range.high && range.step > 0);
  }
  assert.deepEqual(rangeOf(3, 'int', free), { low: 0, high: 10, step: 1 });
  assert.deepEqual(rangeOf(null, 'float', free), { low: -1, high: 1, step: 0.01 });
});

test('a slider stays within the limits of its param', () => {
  assert.deepEqual(rangeOf(0.5, 'float', { ...free, above: 0, most: 1 }), { low: 0.01, high: 1, step: 0.01 });
  assert.deepEqual(rangeOf(1.4, 'float', { ...free, above: 1 }), { low: 1.018, high: 2.8, step: 0.018 });
  assert.deepEqual(rangeOf(2, 'int', { ...free, least: 1 }), { low: 1, high: 10, step: 1 });
  assert.deepEqual(rangeOf(-5, 'float', { ...free, most: -2 }), { low: -10, high: -2, step: 0.08 });
  assert.deepEqual(rangeOf(100, 'float', { ...free, least: 100, most: 100 }), { low: 100, high: 100, step: 1 });
});

test('keys move a slider the way browsers do', () => {
  assert.deepEqual(['ArrowLeft', 'ArrowUp', 'PageUp', 'Home', 'a'].map(stepsOf), [-1, 1, 10, -Infinity, 0]);
});

const label = { name: 'z', unit: '', cells: 9, first: 0, last: 8 };
const thinned = { rows: 4, columns: 5, stride: 2, shown: [2, 0], cuts: [{ axis: 1, index: 3, label }] };

test('a cell lies where it is drawn, and nowhere in a plane that is cut elsewhere', () => {
  assert.deepEqual(placeOf(thinned, [0, 3, 2]), { across: 0.3, up: 0.125 });
  assert.deepEqual(middleOf(thinned, 1, 3), { across: 0.3, up: 0.125 });
  assert.equal(placeOf(thinned, [0, 4, 2]), null);
  assert.deepEqual(placesOf({ ...thinned, particles: null }, [[0, 3, 2], [0, 4, 2]]), [{ across: 0.3, up: 0.125 }, null]);
});

test('a particle that is probed lies where the frame says', () => {
  const points = { rows: 8, columns: 8, particles: { count: 9, radius: 1, followed: [[1, 0], null] } };
  assert.deepEqual(placesOf(points, [[3], [4]]), [{ across: 0.1875, up: 0.9375 }, null]);
});

test('the cells of a line lie at half height', () => {
  assert.deepEqual(placeOf({ rows: 1, columns: 4, stride: 1, shown: [0], cuts: [] }, [2]), { across: 0.625, up: 0.5 });
});
