import { expect, it } from 'vitest';
import { attemptRule, attemptSeparator } from '../../src/contract/files.js';

it('knows the line between two attempts as the supervisor writes it, and no other', () => {
  for (const attempt of [1, 27]) expect(attemptSeparator(attempt, new Date(1_700_000_000_000))).toMatch(attemptRule);
  expect('attempt 2 has failed').not.toMatch(attemptRule);
  expect(` ${attemptSeparator(1, new Date(0))}`).not.toMatch(attemptRule);
});
