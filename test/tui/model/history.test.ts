import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ChartLine } from '../../../src/contract/study.js';
import { LogInMemory } from '../../logs/log-bytes.js';
import { History, type Wanted } from '../../../src/tui/model/history.js';
import type { RunFilesPort } from '../../../src/tui/state/port.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Files that remember how often they were opened and read. */
function files(): RunFilesPort & { opened: string[]; refreshed: string[]; log: string[] } {
  const port = {
    opened: [] as string[],
    refreshed: [] as string[],
    log: ['one'],
    metrics: (directory: string) => {
      port.opened.push(directory);
      const series = { x: new Float64Array(), y: new Float64Array() };
      return { refresh: () => port.refreshed.push(directory) < 3, keys: () => [], series: () => series };
    },
    logTail: () => [...port.log],
    openLog: () => new LogInMemory(),
    runDetails: () => null,
  };
  return port;
}

const wanted = (...metrics: string[]): Wanted => ({ metrics, log: metrics[0] ?? null, logLines: 10 });

describe('the histories of the selection', () => {
  it('are read a moment after the selection came to rest, and then every second', () => {
    const port = files();
    const history = new History(port, () => undefined);
    history.want(wanted('a', 'b'));
    expect(history.reader('a')).toBeUndefined();
    vi.advanceTimersByTime(100);
    expect(port.refreshed).toEqual(['a', 'b']);
    expect(history.reader('a')).toBeDefined();
    expect(history.log('a')).toEqual(['one']);
    expect(history.log('b')).toEqual([]);
    vi.advanceTimersByTime(1100);
    expect(port.refreshed).toEqual(['a', 'b', 'a', 'b']);
    history.close();
  });

  it('tell of news, and only of news', () => {
    const port = files();
    let news = 0;
    const history = new History(port, () => news++);
    history.want(wanted('a'));
    vi.advanceTimersByTime(3500);
    const before = news;
    vi.advanceTimersByTime(5000);
    expect(news).toBe(before);
    port.log.push('two');
    vi.advanceTimersByTime(1100);
    expect(news).toBe(before + 1);
    history.close();
  });

  it('tell of other lines for the charts, too', () => {
    let lines: readonly ChartLine[] = [];
    const quiet = {
      refresh: () => false,
      keys: () => [],
      series: () => ({ x: new Float64Array(), y: new Float64Array() }),
    };
    let news = 0;
    const history = new History({ ...files(), metrics: () => ({ ...quiet, lines: () => lines }) }, () => news++);
    history.want(wanted('a'));
    vi.advanceTimersByTime(3500);
    const before = news;
    lines = [{ metrics: ['loss'], y: 1, per: null, text: 'best known' }];
    vi.advanceTimersByTime(3000);
    expect(news).toBe(before + 1);
    history.close();
  });

  it('of long files are begun one after the other, told once all are begun, and then read on in turn', () => {
    const read: string[] = [];
    const told: (readonly string[])[] = [];
    const port = {
      ...files(),
      metrics: (directory: string) => {
        let parts = directory === 'short' ? 1 : 400;
        return {
          refresh: () => {
            read.push(directory);
            parts--;
            return true;
          },
          get more() {
            return parts > 0;
          },
          keys: () => ['loss'],
          series: () => ({ x: new Float64Array(), y: new Float64Array() }),
        };
      },
    };
    const history: History = new History(port, () =>
      told.push(['long a', 'short', 'long b'].filter((name) => history.reader(name) !== undefined)),
    );
    history.want({ metrics: ['long a', 'short', 'long b'], log: null, logLines: 0 });
    vi.advanceTimersByTime(950);
    expect(read.slice(0, 6)).toEqual(['long a', 'short', 'long b', 'long a', 'long b', 'long a']);
    expect(told[0]).toEqual(['long a', 'short', 'long b']);
    expect(read.filter((name) => name === 'long b')).toHaveLength(400);
    expect(told.length).toBeLessThan(8);
    history.close();
  });

  it('of a long file of which nothing is known yet count as not read', () => {
    let parts = 3;
    const port = {
      ...files(),
      metrics: () => ({
        refresh: () => --parts === 0,
        get more() {
          return parts > 0;
        },
        keys: () => (parts > 0 ? [] : ['loss']),
        series: () => ({ x: new Float64Array(), y: new Float64Array() }),
      }),
    };
    const known: boolean[] = [];
    const history: History = new History(port, () => known.push(history.reader('a') !== undefined));
    history.want({ metrics: ['a'], log: null, logLines: 0 });
    vi.advanceTimersByTime(500);
    expect(known).toEqual([true]);
    history.close();
  });

  it('read before the person went on are told when the person is back', () => {
    const port = files();
    let news = 0;
    const history = new History(port, () => news++);
    history.want(wanted('a', 'b'));
    vi.advanceTimersByTime(41);
    history.want({ ...wanted('a', 'b'), logLines: 20 });
    vi.advanceTimersByTime(500);
    expect(news).toBe(1);
    expect(history.reader('b')).toBeDefined();
    history.close();
  });

  it('are kept for the runs looked at last, and forgotten for those before', () => {
    const port = files();
    const history = new History(port, () => undefined);
    for (let run = 0; run < 20; run++) {
      history.want(wanted(`run ${run}`));
      vi.advanceTimersByTime(100);
    }
    history.want(wanted('run 18'));
    vi.advanceTimersByTime(100);
    expect(port.opened.filter((name) => name === 'run 18')).toHaveLength(1);
    history.want(wanted('run 0'));
    expect(history.reader('run 0')).toBeUndefined();
    vi.advanceTimersByTime(100);
    expect(port.opened.filter((name) => name === 'run 0')).toHaveLength(2);
    history.close();
  });

  it('are not read any more after closing', () => {
    const port = files();
    const history = new History(port, () => undefined);
    history.want(wanted('a'));
    history.close();
    vi.advanceTimersByTime(5000);
    history.want(wanted('b'));
    vi.advanceTimersByTime(5000);
    expect(port.refreshed).toEqual([]);
  });
});
