import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { PassingNote } from '../../../src/tui/app/passing-note.js';
import type { Note } from '../../../src/tui/state/ui-state.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const remark: Note = { text: 'Nothing was killed.', tone: 'dim' };

it('a passing remark goes away by itself, however often the window is drawn meanwhile', () => {
  const forget = vi.fn();
  const passing = new PassingNote(forget);
  passing.hear(remark);
  vi.advanceTimersByTime(4000);
  passing.hear(remark);
  expect(forget).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1000);
  expect(forget).toHaveBeenCalledTimes(1);
});

it.each<[string, Note | null]>([
  ['a refusal', { text: 'This is the last row.', tone: 'warn' }],
  ['an answer', { text: '1 run killed', tone: 'good' }],
  ['a failure', { text: 'The supervisor said no.', tone: 'bad' }],
  ['nothing', null],
])('%s stays until the next key, and takes the place of a remark', (_, note) => {
  const forget = vi.fn();
  const passing = new PassingNote(forget);
  passing.hear(remark);
  passing.hear(note);
  vi.advanceTimersByTime(60_000);
  expect(forget).not.toHaveBeenCalled();
});

it('nothing is forgotten once the window is closed', () => {
  const forget = vi.fn();
  const passing = new PassingNote(forget);
  passing.hear(remark);
  passing.close();
  vi.advanceTimersByTime(60_000);
  expect(forget).not.toHaveBeenCalled();
});
