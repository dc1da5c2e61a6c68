import { expect, it } from 'vitest';
import { newBusy } from '../../../src/supervisor/reading/reading-messages.js';
import { TimedRule } from '../../../src/supervisor/reading/timed-rule.js';
import { plan } from '../testbed.js';

const list = (length: number) => `[${Array.from({ length }, (_, index) => index).join(', ')}]`;

const rule = (when: string, parameters = {}) =>
  new TimedRule(plan('/', 's', [{ stopWhen: { when, for: 1 }, parameters }]).runs[0]!, newBusy());

it('is met, and has no fault', () => {
  const usual = rule('loss > limit', { limit: 5 });
  expect([4, 6].map((loss) => usual.isMetBy({ loss }))).toEqual([false, true]);
  expect(usual.fault).toBeNull();
});

it('is switched off when its rows take too long, together', () => {
  const when = 'xs.all(a, xs.all(b, a + b >= 0)) && loss > 5';
  const slow = rule(when, { xs: Array.from({ length: 100 }, (_, n) => n) });
  for (let rows = 0; slow.fault === null && rows < 100_000; rows++) slow.isMetBy({ loss: 1 });
  expect(slow.fault).toBe(`stop_when is switched off (${when}): it takes too long`);
  expect(slow.isMetBy({ loss: 10 })).toBe(false);
  slow.restart();
  expect(slow.isMetBy({ loss: 10 })).toBe(false);
});

it('is switched off when it needs too much memory', () => {
  const large = rule(`size(${list(200)}.map(a, ${list(200)}.map(b, ${list(200)}))) > loss`);
  expect(large.isMetBy({ loss: 1 })).toBe(false);
  expect(large.fault).toMatch(
    /^stop_when is switched off \(.*\): this makes more than 1,000,000 characters and elements/,
  );
});

it('says why it is none, where a plan of an older version has let it through', () => {
  expect(rule('loss >').fault).toMatch(/switched off \(loss >\): the expression ends too early$/);
});
