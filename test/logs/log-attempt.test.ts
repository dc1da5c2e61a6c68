import { expect, it } from 'vitest';
import { logSeparator } from '../../src/executors/local/attempt-files.js';
import { attemptRule } from '../../src/logs/log-plain-text.js';

it('knows the line between two attempts as the supervisor writes it, and no other', () => {
  for (const attempt of [1, 27]) expect(logSeparator(attempt, new Date(1_700_000_000_000))).toMatch(attemptRule);
  expect('attempt 2 has failed').not.toMatch(attemptRule);
  expect(` ${logSeparator(1, new Date(0))}`).not.toMatch(attemptRule);
});
