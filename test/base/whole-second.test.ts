import { expect, it } from 'vitest';
import { untilWholeSecond } from '../../src/base/lazy.js';

it.each<{ now: number; wait: number }>([
  { now: 0, wait: 1000 },
  { now: 1, wait: 999 },
  { now: 5400.2, wait: 599 },
  { now: 5999.4, wait: 1000 },
  { now: 6000, wait: 1000 },
])('at $now ms the next whole second that is not this one is $wait ms away', ({ now, wait }) => {
  expect(untilWholeSecond(now)).toBe(wait);
});
