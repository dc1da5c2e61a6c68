import { describe, expect, it } from 'vitest';
import { leakedProcessWords } from '../../../src/supervisor/runs/warnings.js';

const [sure, possible] = [
  { pid: 3, name: 'sleep' },
  { pid: 4, name: 'node', possible: true as const },
];

describe('what a row says of processes that are still there after the end of a run', () => {
  it.each([
    { leaked: [], killed: false, words: null },
    { leaked: [sure], killed: false, words: '1 process left behind: sleep (pid 3)' },
    { leaked: [sure, sure], killed: true, words: '2 processes survived SIGKILL: sleep (pid 3), sleep (pid 3)' },
    { leaked: [possible], killed: true, words: 'may have left processes behind: node (pid 4)' },
    {
      leaked: [sure, possible, possible, possible, possible],
      killed: false,
      words:
        '1 process left behind: sleep (pid 3); may have left processes behind: node (pid 4), node (pid 4), node (pid 4), …',
    },
  ])('$words', ({ leaked, killed, words }) => expect(leakedProcessWords(leaked, killed)).toBe(words));
});
