import { expect, it } from 'vitest';
import { EarlyTerminate } from '../../../../src/spec/planned-run.js';
import { EarlyStopping } from '../../../../src/spec/policy/early-stop/early-stopping.js';

const objective = { name: 'loss', goal: 'minimize' } as const;

it('holds runs against values that are remembered, and passes no verdict on them', () => {
  const stopping = new EarlyStopping(EarlyTerminate.parse({ type: 'asha', min_iter: 1, max_iter: 1 }), objective);
  stopping.remember('good', 0.1);
  stopping.remember('bad', 0.9);
  expect(stopping.note('bad', 0.9)).toBeNull();
  expect(stopping.note('worse', 1)).toBe('asha: 1 at iteration 1 is above 0.1, the best third of 3 runs');
  expect(stopping.note('better', 0.05)).toBeNull();
});
