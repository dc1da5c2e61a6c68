import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FileAnswerer } from '../../../src/cli/hosts/relay.js';
import { type FileAnswers, FileQuestion } from '../../../src/cli/hosts/file-questions.js';
import { type Ask, HostFiles } from '../../../src/cli/hosts/host-files.js';
import { LogFile } from '../../../src/logs/log-file.js';
import { LogSearch } from '../../../src/logs/log-search.js';
import { runFiles } from '../../../src/tui/app/open-window.js';
import { History } from '../../../src/tui/model/history.js';
import { RunCurves } from '../../../src/tui/model/run-curves.js';
import { type MetricReader, type RunSummary, OnItsWay } from '../../../src/tui/state/port.js';

let run = '';
let asked: { question: FileQuestion; bytes: number }[] = [];
let files: HostFiles;

beforeEach(() => {
  run = join(mkdtempSync(join(tmpdir(), 'memrl-host-files-')), 'sweep/run');
  mkdirSync(run, { recursive: true });
  asked = [];
  files = new HostFiles(throughJson(new FileAnswerer(undefined)));
});
afterEach(() => rmSync(join(run, '../..'), { recursive: true }));

/** As over a line: nothing but text passes, and what is asked is checked. */
function throughJson(answerer: FileAnswerer): Ask {
  return async (question) => {
    const text = JSON.stringify(await answerer.answer(FileQuestion.parse(JSON.parse(JSON.stringify(question)))));
    asked.push({ question, bytes: text.length });
    return JSON.parse(text) as FileAnswers[(typeof question)['about']];
  };
}

/** Reads as the window does: again whenever something has come, until `isDone`. */
async function read<Value>(look: () => Value, isDone: (value: Value) => boolean = () => true): Promise<Value> {
  for (;;) {
    try {
      const value = look();
      if (isDone(value)) return value;
      await new Promise((resolve) => setTimeout(resolve, 5));
    } catch (error) {
      if (!(error instanceof OnItsWay)) throw error;
      await error.arrival;
    }
  }
}

/** Looks at curves until they are there. */
async function curves(reader: MetricReader, ...keys: string[]) {
  return read(
    () => {
      reader.refresh();
      return keys.map((key) => reader.series(key));
    },
    () => reader.more !== true,
  );
}

const rows = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => `{"step":${from + at},"loss":${1 / (from + at)},"acc":0.5}\n`).join('');
const write = (file: string, text: string) => writeFileSync(join(run, file), text);
const append = (file: string, text: string) => appendFileSync(join(run, file), text);

describe('the metrics of a run on another host', () => {
  it('are those that are read there, to the last bit', async () => {
    write('metrics.jsonl', `${rows(1, 40)}{"step":40,"loss":NaN,"acc":1e999}\n`);
    const local = runFiles.metrics(run);
    while (local.refresh() || local.more === true);
    const reader = files.metrics(run);
    const [loss, acc] = await curves(reader, 'loss', 'acc');
    expect([loss, acc]).toEqual([local.series('loss'), local.series('acc')]);
    expect(reader.keys()).toEqual(local.keys());
  });

  it('have the lines for their charts', async () => {
    write('metrics.jsonl', rows(1, 4));
    write('study.json', '{"lines": [{"metrics": "loss", "y": 0.5, "text": "best known"}]}');
    const reader = files.metrics(run);
    const known = { metrics: ['loss'], y: 0.5, per: null, text: 'best known' };
    const hasLines = () => {
      reader.refresh();
      return reader.lines!();
    };
    expect(await read(hasLines, (lines) => lines.length > 0)).toEqual([known]);
  });

  it('come as what is new, once they are here', { tags: ['long'] }, async () => {
    write('metrics.jsonl', rows(1, 2000));
    const reader = files.metrics(run);
    await curves(reader, 'loss');
    append('metrics.jsonl', rows(2000, 2003));
    const before = asked.length;
    const line = await read(
      () => (reader.refresh(), reader.series('loss')),
      ({ x }) => x.length === 2002,
    );
    expect([line.x.at(-1), line.y.at(-1)]).toEqual([2002, 1 / 2002]);
    expect(asked.slice(before).every(({ bytes }) => bytes < 500)).toBe(true);
  });

  it('go on from where a file begins that was opened anew', async () => {
    write('metrics.jsonl', rows(1, 100));
    const reader = files.metrics(run);
    await curves(reader, 'loss');
    write('metrics.jsonl', rows(7, 20));
    const line = await read(
      () => (reader.refresh(), reader.series('loss')),
      ({ x }) => x.at(-1) === 19,
    );
    expect(line.x).toHaveLength(19);
  });

  it('have the curves that were looked at last with the first answer about another run', async () => {
    write('metrics.jsonl', rows(1, 10));
    await curves(files.metrics(run), 'loss');
    const before = asked.length;
    const other = files.metrics(run);
    await read(() => other.refresh());
    expect(asked).toHaveLength(before + 1);
    expect(other.series('loss').x).toHaveLength(9);
  });

  it('say where they are once that is asked', async () => {
    write('metrics.jsonl', rows(1, 10));
    const reader = files.metrics(run);
    const describeIt = await read(
      () => (reader.refresh(), reader.describe),
      (found) => found !== undefined,
    );
    expect(describeIt!().sources[0]).toMatchObject({ files: ['metrics.jsonl'], state: 'told' });
  });

  it('are none where the host cannot read them, without asking on and on', async () => {
    const failing = new HostFiles(() => (asked.push({} as never), Promise.reject(new Error('no'))));
    const reader = failing.metrics(run);
    await read(() => reader.refresh());
    expect([reader.keys(), reader.series('loss').x.length]).toEqual([[], 0]);
    for (let turn = 0; turn < 5; turn++) await read(() => reader.refresh());
    expect(asked.length).toBeLessThan(4);
  });
});

describe('the log of a run on another host', () => {
  const line = (number: number) => `line ${String(number).padStart(6, '0')} of a log\n`;
  const lines = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => line(from + at)).join('');

  it('is read by place, a block once', async () => {
    write('output.log', lines(0, 10_000));
    const log = new LogFile(files.openLog(run));
    await read(() => log.look());
    const last = await read(() => log.linesBefore(log.size, 1));
    expect(last.lines.at(-1)!.text).toBe('line 009999 of a log');
    const count = asked.length;
    await read(() => log.linesBefore(log.size, 1));
    expect(asked).toHaveLength(count);
  });

  it('is searched', async () => {
    write('output.log', lines(0, 30_000));
    const log = new LogFile(files.openLog(run));
    await read(() => log.look());
    const search = new LogSearch(log, { matches: (text) => text.includes('020001'), hint: null }, 0, 1);
    const found = await read(
      () => search.step(),
      ({ kind }) => kind !== 'searching',
    );
    expect(found).toEqual({ kind: 'found', offset: 20_001 * line(0).length });
  });

  it('grows by what was added, and begins anew where it does', async () => {
    write('output.log', lines(0, 3000));
    const log = new LogFile(files.openLog(run));
    await read(() => log.look());
    await read(() => log.linesBefore(log.size, 1));
    append('output.log', line(3000));
    await read(
      () => (log.look(), log.size),
      (size) => size === 3001 * line(0).length,
    );
    const grown = await read(() => log.linesBefore(log.size, 1));
    expect(grown.lines.at(-1)!.text).toBe('line 003000 of a log');
    const parts = asked.filter(({ question }) => question.about === 'log-part');
    expect(parts.at(-1)!.bytes).toBeLessThan(100);
    write('output.log', 'short\n');
    await read(
      () => log.look(),
      ({ restarted }) => restarted,
    );
    const anew = await read(() => log.linesBefore(log.size, 1));
    expect(anew.lines.map(({ text }) => text)).toEqual(['short']);
  });

  it('has its last lines beside the list', async () => {
    write('output.log', lines(0, 30));
    expect(await read(() => files.logTail(run, 2))).toEqual(['line 000028 of a log', 'line 000029 of a log']);
    append('output.log', line(30));
    await read(
      () => files.logTail(run, 1),
      ([last]) => last === 'line 000030 of a log',
    );
  });
});

describe('what the window reads of runs on another host', () => {
  const summary = () => ({ id: 'sweep/run', sweep: 'sweep', group: 'g', directory: run, state: 'done', attempt: 1 });

  it('is the curve and the end of the log of the selection, with few questions', async () => {
    write('metrics.jsonl', rows(1, 50));
    write('output.log', 'one\ntwo\n');
    let history: History;
    const loss = () => history.reader(run)?.series('loss').x.length ?? 0;
    const changed = new Promise<void>((resolve) => {
      history = new History(files, () => {
        if (loss() === 49 && history.log(run).at(-1) === 'two') resolve();
      });
    });
    history!.want({ metrics: [run], log: run, logLines: 5 });
    await changed;
    history!.close();
    expect(asked.filter(({ question }) => question.about === 'metrics').length).toBeLessThanOrEqual(3);
  });
  it('is what the list asks of all curves', async () => {
    write('metrics.jsonl', rows(1, 50));
    const done = { ...summary(), metrics: { loss: 1 / 49 }, spark: [] } as unknown as RunSummary;
    let curves: RunCurves;
    const known = new Promise<RunSummary>((resolve) => {
      curves = new RunCurves(files, () => resolve(curves.dressed(done)));
      curves.want({ metric: 'loss', values: ['max', 'last'], hasTrend: true }, [done], []);
    });
    expect(await known).toMatchObject({ curveValues: { max: 1, last: 1 / 49 } });
    curves!.close();
  });
});

describe('what else is known of a run on another host', () => {
  it('is that it has no record, and what it takes on its disk', async () => {
    write('output.log', 'x'.repeat(100_000));
    expect(await read(() => files.runDetails(run))).toBeNull();
    const usage = files.usage(run);
    await read(
      () => usage.isOver,
      (isOver) => isOver,
    );
    expect(usage.usage.logs).toBeGreaterThanOrEqual(100_000);
  });
});

describe('the samples of a run on another host', () => {
  it('are those that are read there, and come once', async () => {
    mkdirSync(join(run, 'rollouts'));
    write('rollouts/step_3.jsonl', '{"prompt":"2 + 2 =","completion":"4","reward":1}\n');
    write('plot_3.png', 'picture');
    const there = await runFiles.samples!(run);
    expect(there.all).toHaveLength(1);
    expect(await files.samples(run)).toEqual(there);
    expect(await files.samples(run)).toEqual(there);
    expect(asked.map(({ bytes }) => bytes < 60)).toEqual([false, true]);
    append('rollouts/step_3.jsonl', '{"prompt":"2 + 2 =","completion":"5","reward":0}\n');
    expect((await files.samples(run)).all).toHaveLength(2);
  });

  it('are the latest ones that a slow line can carry', async () => {
    mkdirSync(join(run, 'rollouts'));
    const row = (at: number) => `{"step":${at},"prompt":"p","completion":"${'c'.repeat(10_000)}","reward":1}\n`;
    write('rollouts/all.jsonl', Array.from({ length: 100 }, (_, at) => row(at)).join(''));
    const { all, isCut } = await files.samples(run);
    expect([all.at(-1)!.step, isCut]).toEqual([99, true]);
    expect(all.length).toBeLessThan(60);
  });
});
