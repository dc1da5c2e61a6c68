import { expect, it } from 'vitest';
import { arithmetic } from '../../../../src/lab/environments/arithmetic/arithmetic.js';
import { rng } from '../../../../src/lab/rng.js';

const asked = { max: 9, include_fewshot: true };

it.each([
  { what: 'where the model ends it', ending: undefined, stop: ['\n\n'], after: '' },
  { what: 'with the text that it is given', ending: ['\n\nUser:'], stop: ['\n\nUser:'], after: '\n\nUser:' },
])('a taught answer ends $what, and gets the full reward', ({ ending, stop, after }) => {
  const environment = arithmetic({ ...asked, ending });
  const task = environment.task(0, rng(0, 'test'));
  const answer = environment.answer!(task);
  expect([environment.stop, answer]).toEqual([stop, ` ${String(task.gold)}${after}`]);
  const turn = { text: answer.slice(0, answer.length - after.length), ended: 'stop' as const };
  const given = environment.respond(task, [turn] as never);
  expect(given).toMatchObject({ reward: 1, metrics: { correct: 1, format: 1 } });
});
