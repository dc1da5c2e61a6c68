import { describe, expect, it } from 'vitest';
import { PAGE, submission } from '../../src/protocol/message.js';
import { SharedParts } from '../../src/spec/plan-text.js';
import { plan } from '../supervisor/testbed.js';

const rest = { request: 4, environment: { A: 'b' }, slots: { slots: 2 } };
const planOf = (count: number) =>
  plan(
    '/runs',
    's',
    Array.from({ length: count }, (_, n) => ({ parameters: { n }, grace: n % 3, group: `g${n % 2}` })),
  );

describe('a submission as messages', () => {
  it.each([0, 1, PAGE])('is one where it has %d runs', (count) => {
    const messages = [...submission({ ...rest, plan: planOf(count) })];
    expect(messages).toEqual([{ type: 'submit', ...rest, plan: planOf(count), more: false }]);
  });

  it('brings many runs page by page, with what they have in common once', () => {
    const whole = planOf(2 * PAGE + 1);
    const messages = [...submission({ ...rest, plan: whole })];
    const pages = messages.flatMap((message) => (message.type === 'page' ? [message] : []));
    const parts = new SharedParts();
    expect(pages.map(({ request, of, page }) => [request, of, page.runs.length])).toEqual([
      [4, 201, 100],
      [4, 201, 100],
      [4, 201, 1],
    ]);
    expect(pages.flatMap(({ page }) => parts.take(page))).toEqual(whole.runs);
    expect(pages.map(({ page }) => page.parts.length)).toEqual([6, 0, 0]);
    expect(messages.at(-1)).toEqual({ type: 'submit', ...rest, plan: { ...whole, runs: [] }, more: false });
  });

  it('makes no sense where a page refers to what was not said', () => {
    const [, second] = [...submission({ ...rest, plan: planOf(2 * PAGE) })];
    expect(second?.type === 'page' && new SharedParts().take(second.page)).toBeUndefined();
  });
});
