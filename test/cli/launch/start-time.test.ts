import { describe, expect, it } from 'vitest';
import { plannedStart, startAtText, startWords } from '../../../src/cli/launch/start-time.js';
import { refusal } from '../../spec/sweeps.js';

const now = Date.parse('2026-11-30T20:00:00.500Z');
const zone = 'Europe/Berlin';

describe('--at', () => {
  it.each([
    ['22:00', '2026-11-30 22:00:00+01:00'],
    ['21:00', '2026-12-01 21:00:00+01:00'],
    ['2026-12-01 22:00', '2026-12-01 22:00:00+01:00'],
    ['2027-06-01T22:00', '2027-06-01 22:00:00+02:00'],
    ['2026-11-30 22:00:00-05:00', '2026-12-01 04:00:00+01:00'],
    ['+2h', '2026-11-30 23:00:01+01:00'],
    ['+1d30m', '2026-12-01 21:30:01+01:00'],
  ])('%s is %s', (text, expected) => expect(startAtText(text, now, zone)).toBe(expected));

  it('is never before what was typed, and is read back in the hour that comes twice', () => {
    const twice = Date.parse('2026-10-25T00:30Z');
    expect(startAtText('+1h', twice, zone)).toBe('2026-10-25 02:30:00+01:00');
    expect(startAtText('2026-10-25 02:30:00+01:00', twice, zone)).toBe('2026-10-25 02:30:00+01:00');
  });

  it.each(['25:00', '2h', 'tomorrow', '', '+', '+-2h', '2026-12-01', '22:00 2026-12-01'])('"%s" is refused', (text) => {
    const { message, fix } = refusal(() => startAtText(text, now, zone));
    expect([message, fix]).toEqual([`--at cannot be "${text}".`, expect.stringContaining('`--at +2h`')]);
  });

  it('is refused where it has passed', () => {
    expect(refusal(() => startAtText('2026-11-30 20:59', now, zone)).message).toBe(
      '--at 2026-11-30 20:59 has passed: it is 2026-11-30 21:00:00+01:00.',
    );
  });
});

describe('the start of a run that is planned', () => {
  it('is when its time comes, and nothing where it may start at once', () => {
    expect(plannedStart({ start: { zone, at: '22:00' } }, now)).toBe(Date.parse('2026-11-30T21:00Z'));
    expect(plannedStart({ start: { zone, between: ['21:00', '22:00'] } }, now)).toBeNull();
    expect(plannedStart({}, now)).toBeNull();
    expect(startWords(Date.parse('2026-11-30T21:00Z'), now, zone)).toBe('at 22:00, in 59m59s');
  });
});
