import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { earliestStart, nextStart, openingAt, type StartTimes } from '../../../src/scheduler/start/start-times.js';
import { dayAt, instantAt, parseTimeOfDay, weekdayOf } from '../../../src/text/zoned-time.js';

const zones = ['Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'UTC'];
const time = (text: string) => parseTimeOfDay(text)!;
const window = (from: string, to: string): NonNullable<StartTimes['between']> => [time(from), time(to)];
/** The whole rule: the first instant at which a run may start that is launched now. */
const start = (times: StartTimes, now: number) => nextStart(times, earliestStart(times, now), now);

const night = { between: window('20:00', '08:00') };
const at = (text: string) => ({ at: { time: time(text) } });

describe('the next start', () => {
  it.each<{ what: string; times: Omit<StartTimes, 'zone'>; now: string; then: string }>([
    { what: 'nothing is asked for', times: {}, now: '2026-11-30T12:00Z', then: '2026-11-30T12:00Z' },
    { what: 'today', times: at('22:00'), now: '2026-11-30T12:00Z', then: '2026-11-30T21:00Z' },
    { what: 'this very moment', times: at('22:00'), now: '2026-11-30T21:00Z', then: '2026-11-30T21:00Z' },
    { what: 'tomorrow', times: at('22:00'), now: '2026-11-30T21:00:00.001Z', then: '2026-12-01T21:00Z' },
    { what: 'after some time', times: { afterMs: 7_200_000 }, now: '2026-11-30T12:00Z', then: '2026-11-30T14:00Z' },
    {
      what: 'the first such time after that',
      times: { ...at('22:00'), afterMs: 36_000_000 },
      now: '2026-11-30T12:00Z',
      then: '2026-12-01T21:00Z',
    },
    {
      what: 'at a date',
      times: { at: { instant: Date.parse('2027-01-01T00:00Z') } },
      now: '2026-11-30T12:00Z',
      then: '2027-01-01T00:00Z',
    },
    {
      what: 'at a date that has passed',
      times: { at: { instant: 0 } },
      now: '2026-11-30T12:00Z',
      then: '2026-11-30T12:00Z',
    },
    { what: 'when the window opens', times: night, now: '2026-11-30T12:00Z', then: '2026-11-30T19:00Z' },
    { what: 'in the window', times: night, now: '2026-11-30T19:00Z', then: '2026-11-30T19:00Z' },
    {
      what: 'in the window, after midnight',
      times: night,
      now: '2026-11-30T06:59:59.999Z',
      then: '2026-11-30T06:59:59.999Z',
    },
    { what: 'not when it has just ended', times: night, now: '2026-11-30T07:00Z', then: '2026-11-30T19:00Z' },
    {
      what: 'the first window after some time',
      times: { ...night, afterMs: 36_000_000 },
      now: '2026-11-30T00:00Z',
      then: '2026-11-30T19:00Z',
    },
    { what: 'on Friday', times: { ...at('22:00'), days: [5] }, now: '2026-11-30T12:00Z', then: '2026-12-04T21:00Z' },
    {
      what: 'in the night that begins on Friday',
      times: { ...night, days: [5] },
      now: '2026-12-05T06:00Z',
      then: '2026-12-05T06:00Z',
    },
    {
      what: 'not in the night that ends on Friday',
      times: { ...night, days: [5] },
      now: '2026-12-04T06:00Z',
      then: '2026-12-04T19:00Z',
    },
    { what: 'at the beginning of a day', times: { days: [0, 6] }, now: '2026-11-30T12:00Z', then: '2026-12-04T23:00Z' },
    // 2026-03-29: 02:00 becomes 03:00; 2026-10-25: 03:00 becomes 02:00.
    {
      what: 'the first instant after the hour that is skipped',
      times: at('02:30'),
      now: '2026-03-28T12:00Z',
      then: '2026-03-29T01:00Z',
    },
    { what: 'and the day after as ever', times: at('02:30'), now: '2026-03-29T01:00:01Z', then: '2026-03-30T00:30Z' },
    { what: 'the first of the two', times: at('02:30'), now: '2026-10-24T12:00Z', then: '2026-10-25T00:30Z' },
    { what: 'not the second of the two', times: at('02:30'), now: '2026-10-25T00:31Z', then: '2026-10-26T01:30Z' },
    {
      what: 'in a window over the change',
      times: { between: window('01:00', '04:00') },
      now: '2026-03-29T01:59:59Z',
      then: '2026-03-29T01:59:59Z',
    },
    {
      what: 'a window that the change swallows is left out',
      times: { between: window('02:10', '02:40') },
      now: '2026-03-28T12:00Z',
      then: '2026-03-30T00:10Z',
    },
    {
      what: 'a weekly window that the change swallows',
      times: { between: window('02:10', '02:40'), days: [0] },
      now: '2026-03-28T12:00Z',
      then: '2026-04-05T00:10Z',
    },
    { what: 'on the 29th of February', times: at('06:00'), now: '2028-02-28T12:00Z', then: '2028-02-29T05:00Z' },
  ])('in Berlin: $what', ({ times, now, then }) => {
    expect(new Date(start({ zone: 'Europe/Berlin', ...times }, Date.parse(now))).toISOString()).toBe(
      new Date(then).toISOString(),
    );
  });

  it.each([
    { zone: 'America/New_York', then: '2026-12-01T03:00Z' },
    { zone: 'Asia/Kolkata', then: '2026-11-30T16:30Z' },
    { zone: 'UTC', then: '2026-11-30T22:00Z' },
  ])('is by the clock of $zone', ({ zone, then }) => {
    expect(start({ zone, ...at('22:00') }, Date.parse('2026-11-30T12:00Z'))).toBe(Date.parse(then));
  });

  it('joins days that follow each other to one window', () => {
    const times = { zone: 'Europe/Berlin', days: [0, 6] };
    const saturday = Date.parse('2026-12-05T12:00Z');
    expect(openingAt(times, saturday)).toEqual({ isOpen: true, until: Date.parse('2026-12-06T23:00Z') });
    expect(openingAt({ ...times, days: [0, 1, 2, 3, 4, 5, 6] }, saturday)).toEqual({ isOpen: true, until: null });
  });
});

/** Whether an instant is in a window, by looking at the windows of all days around it. */
function isInside({ zone, between, days }: StartTimes, instant: number): boolean {
  const [from, to] = between ?? [0, 0];
  const today = dayAt(zone, instant);
  return [today - 1, today].some((day) => {
    if (days !== undefined && !days.includes(weekdayOf(day))) return false;
    return instantAt(zone, day, from) <= instant && instant < instantAt(zone, to <= from ? day + 1 : day, to);
  });
}

const timesOfDay = fc.nat(86_399);
const anyTimes = fc
  .record({
    zone: fc.constantFrom(...zones),
    between: fc.tuple(timesOfDay, timesOfDay).filter(([from, to]) => from !== to),
    days: fc.uniqueArray(fc.nat(6), { minLength: 1 }),
  })
  .chain((all) =>
    fc.constantFrom<StartTimes>(all, { zone: all.zone, between: all.between }, { zone: all.zone, days: all.days }),
  );
/** Half of them near a change of the clocks. */
const instants = fc.oneof(
  fc.integer({ min: Date.parse('2026-01-01'), max: Date.parse('2028-12-31') }),
  fc
    .tuple(
      fc.constantFrom('2026-03-29T01:00Z', '2026-10-25T01:00Z', '2026-03-08T07:00Z', '2026-11-01T06:00Z'),
      fc.integer({ min: -90_000_000, max: 90_000_000 }),
    )
    .map(([change, offset]) => Date.parse(change) + offset),
);

describe('any window', () => {
  it('gives a start that is not before now, in the window, and the first such', () => {
    fc.assert(
      fc.property(anyTimes, instants, fc.double({ min: 0, max: 1, noNaN: true }), (times, now, share) => {
        const found = nextStart(times, now, now);
        expect(found).toBeGreaterThanOrEqual(now);
        expect(isInside(times, found)).toBe(true);
        if (found > now) expect(isInside(times, Math.floor(now + share * (found - 1 - now)))).toBe(false);
      }),
      { numRuns: 400 },
    );
  });

  it('is open until it is not, and no longer', () => {
    fc.assert(
      fc.property(anyTimes, instants, fc.double({ min: 0, max: 1, noNaN: true }), (times, now, share) => {
        const opening = openingAt(times, now);
        expect(opening.isOpen).toBe(isInside(times, now));
        if (!opening.isOpen || opening.until === null) return;
        expect(isInside(times, opening.until)).toBe(false);
        expect(isInside(times, Math.floor(now + share * (opening.until - 1 - now)))).toBe(true);
      }),
      { numRuns: 400 },
    );
  });
});
