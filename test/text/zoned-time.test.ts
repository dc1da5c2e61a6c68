import { describe, expect, it } from 'vitest';
import {
  clockText,
  datedText,
  DAY_MS,
  dayAt,
  instantAt,
  instantOf,
  parseDatedTime,
  parseTimeOfDay,
  timeOfDayText,
} from '../../src/text/zoned-time.js';

const day = (date: string) => Date.parse(`${date}T00:00:00Z`) / DAY_MS;
const seconds = (time: string) => parseTimeOfDay(time)!;

describe('the clock of a time zone', () => {
  it.each([
    { zone: 'UTC', date: '2026-12-01', time: '22:00', instant: '2026-12-01T22:00:00Z' },
    { zone: 'Europe/Berlin', date: '2026-12-01', time: '22:00', instant: '2026-12-01T21:00:00Z' },
    { zone: 'Europe/Berlin', date: '2026-07-01', time: '22:00', instant: '2026-07-01T20:00:00Z' },
    { zone: 'America/New_York', date: '2026-12-01', time: '22:00', instant: '2026-12-02T03:00:00Z' },
    { zone: 'Asia/Kolkata', date: '2028-02-29', time: '00:15', instant: '2028-02-28T18:45:00Z' },
    { zone: 'Europe/Berlin', date: '2026-03-29', time: '01:59:59', instant: '2026-03-29T00:59:59Z' },
    // These clocks skip the hour from 02:00 on, or have it twice.
    { zone: 'Europe/Berlin', date: '2026-03-29', time: '02:00', instant: '2026-03-29T01:00:00Z' },
    { zone: 'Europe/Berlin', date: '2026-03-29', time: '02:30', instant: '2026-03-29T01:00:00Z' },
    { zone: 'Europe/Berlin', date: '2026-03-29', time: '03:00', instant: '2026-03-29T01:00:00Z' },
    { zone: 'Europe/Berlin', date: '2026-10-25', time: '02:30', instant: '2026-10-25T00:30:00Z' },
    { zone: 'Europe/Berlin', date: '2026-10-25', time: '03:00', instant: '2026-10-25T02:00:00Z' },
    { zone: 'America/New_York', date: '2026-03-08', time: '02:30', instant: '2026-03-08T07:00:00Z' },
    { zone: 'America/New_York', date: '2026-11-01', time: '01:30', instant: '2026-11-01T05:30:00Z' },
    { zone: 'Australia/Lord_Howe', date: '2026-10-04', time: '02:10', instant: '2026-10-03T15:30:00Z' },
    { zone: 'a zone of another machine', date: '2026-12-01', time: '22:00', instant: '2026-12-01T22:00:00Z' },
  ])('$zone shows $time of $date at $instant', ({ zone, date, time, instant }) => {
    expect(new Date(instantAt(zone, day(date), seconds(time))).toISOString()).toBe(instant.replace('Z', '.000Z'));
  });

  it('knows the date, which is not that of UTC', () => {
    expect(dayAt('America/New_York', Date.parse('2026-12-01T04:59:59Z'))).toBe(day('2026-11-30'));
    expect(dayAt('Asia/Kolkata', Date.parse('2026-12-01T18:30:00Z'))).toBe(day('2026-12-02'));
  });
});

describe('times as people write them', () => {
  it.each<[string, number | null]>([
    ['22:00', 79_200],
    ['7:05', 25_500],
    ['00:00:01', 1],
    ['23:59:59', 86_399],
    ...['25:00', '24:00', '22:60', '22', '22:0', '10 pm', '', ' 22:00', '22:00:60', '-1:00'].map(
      (text): [string, null] => [text, null],
    ),
  ])('%s is %s seconds after midnight', (text, expected) => {
    expect(parseTimeOfDay(text)).toBe(expected);
  });

  it.each<[string, string | null]>([
    ['2026-12-01 22:00', '2026-12-01T21:00:00Z'],
    ['2026-12-01T22:00:30', '2026-12-01T21:00:30Z'],
    ['2026-12-01 22:00Z', '2026-12-01T22:00:00Z'],
    ['2026-12-01 22:00:00-05:30', '2026-12-02T03:30:00Z'],
    ['2028-02-29 12:00', '2028-02-29T11:00:00Z'],
    ...['2026-02-29 12:00', '2026-13-01 12:00', '2026-12-01', '2026-12-01 25:00', '1 Dec 22:00'].map(
      (text): [string, null] => [text, null],
    ),
  ])('%s is %s', (text, expected) => {
    const dated = parseDatedTime(text);
    expect(dated && instantOf(dated, 'Europe/Berlin')).toBe(expected && Date.parse(expected));
  });

  it('are read back as they were written, also in the hour that comes twice', () => {
    for (const zone of ['Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'UTC']) {
      for (let hour = 0; hour < 48; hour++) {
        const instant = Date.parse('2026-10-24T12:00:00Z') + hour * 3_600_000;
        expect(instantOf(parseDatedTime(datedText(zone, instant))!, 'UTC')).toBe(instant);
      }
    }
    expect(datedText('Asia/Kolkata', 0)).toBe('1970-01-01 05:30:00+05:30');
    expect(timeOfDayText(seconds('7:05:09'))).toBe('07:05:09');
  });

  it('are shown with their date when they are more than a day away', () => {
    const now = Date.parse('2026-11-30T20:00:00Z');
    const shown = (text: string) => clockText('Europe/Berlin', Date.parse(text), now);
    expect(shown('2026-11-30T21:00:00Z')).toBe('22:00');
    expect(shown('2026-12-01T21:00:00Z')).toBe('22:00 on 1 Dec');
    expect(shown('2027-01-02T21:00:05Z')).toBe('22:00:05 on 2 Jan 2027');
  });
});
