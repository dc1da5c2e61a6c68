import { once } from 'node:events';
import type { Socket } from 'node:net';
import { hostname } from 'node:os';
import { setImmediate as turn } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { LineSplitter } from '../../base/line-splitter.js';
import { errorText, UserError } from '../../base/user-error.js';
import { openOrStartSupervisor, openToLook } from '../../client/ensure-supervisor.js';
import { lastLaunched } from '../../files/sweep-folder.js';
import type { Samples } from '../../logs/samples.js';
import { type decodeOrder, WIRE_VERSION, wireMarks } from '../../protocol/host-order.js';
import { PROGRAM_VERSION } from '../../protocol/message.js';
import { runFiles } from '../../tui/app/open-window.js';
import type { MetricReader, RunFilesPort } from '../../tui/state/port.js';
import { exitCodes } from '../answers/exit-codes.js';
import { supervisorPrograms } from '../open-fleet.js';
import { runsDirectory } from '../options.js';
import { own } from '../ports.js';
import { readReport } from '../print-report.js';
import { existingRunsDirectory } from '../show/runs-here.js';
import {
  type AskedSeries,
  bytesOf,
  type FileAnswers,
  FileQuestion,
  NumberedLine,
  sumOf,
  sumOfKeys,
} from './file-questions.js';

type WindowOrder = NonNullable<ReturnType<typeof decodeOrder>['window']>;

/**
 * Stands between a window elsewhere, which is at the other end of this program's input and output, and the supervisor and files of
 * this host, until either of them leaves. Where there is no runs directory, or its supervisor does not come up, it says why. Gives
 * the exit code.
 */
export async function relay(order: WindowOrder): Promise<number> {
  const { stdin, stdout } = own();
  const say = (text: string) => stdout.write(text);
  const supervisor = await opened(order, say).catch((error: unknown) => {
    if (!(error instanceof UserError)) throw error;
    say(`${wireMarks.refused}${JSON.stringify({ problem: error.message, fix: error.fix })}\n`);
    return null;
  });
  if (supervisor === null) return exitCodes.refused;
  say(`${wireMarks.greeting}${JSON.stringify({ wire: WIRE_VERSION, version: PROGRAM_VERSION, host: hostname() })}\n`);
  const told = new LineSplitter();
  supervisor.on('data', (chunk: Buffer) => {
    const lines = told.push(chunk).map((line) => `${wireMarks.supervisor}${line}\n`);
    if (lines.length === 0 || say(lines.join(''))) return;
    supervisor.pause();
    stdout.once('drain', () => supervisor.resume());
  });
  const asked = new LineSplitter();
  const answerer = new FileAnswerer(order.runs);
  stdin.on('data', (chunk: Buffer) => {
    for (const line of asked.push(chunk)) {
      if (line.startsWith(wireMarks.supervisor)) supervisor.write(`${line.slice(1)}\n`);
      else if (line.startsWith(wireMarks.files)) void reply(line.slice(1), answerer, say);
    }
  });
  // Whose window is gone hears of it by either.
  stdout.on('error', () => supervisor.destroy());
  stdin.on('end', () => supervisor.destroy());
  supervisor.on('error', () => supervisor.destroy());
  await once(supervisor, 'close');
  stdin.destroy();
  return 0;
}

function opened({ runs, takesOver, readOnly }: WindowOrder, say: (text: string) => void): Promise<Socket> {
  const programs = { ...supervisorPrograms(), tell: (line: string) => say(`${wireMarks.told}${line}\n`) };
  return Promise.resolve(runs === undefined ? {} : { runs })
    .then(existingRunsDirectory)
    .then((directory) =>
      readOnly === true ? openToLook(directory) : openOrStartSupervisor(directory, programs, takesOver),
    );
}

async function reply(line: string, answerer: FileAnswerer, say: (text: string) => void): Promise<void> {
  const { number, question } = NumberedLine.parse(JSON.parse(line));
  const answered = await Promise.resolve(question)
    .then((asked) => answerer.answer(FileQuestion.parse(asked)))
    .then(
      (answer) => ({ number, answer }),
      (error: unknown) => ({ number, problem: errorText(error) }),
    );
  say(`${wireMarks.files}${JSON.stringify(answered)}\n`);
}

type Asked<About extends FileQuestion['about']> = Extract<FileQuestion, { about: About }>;

type Answers = { [About in keyof FileAnswers]: FileAnswers[About] | Promise<FileAnswers[About]> };

/** A long file is told as far as it has been read by then, ms. */
const PATIENCE_MS = 150;
/** Limit on the texts of the samples in one answer, in characters. */
const SAMPLES_CHARACTERS = 512 << 10;
/** Runs whose metrics stay in memory; the others are read anew when they are asked for again. */
const KEPT = 200;

/** Answers what a window elsewhere asks about the files of this host, with the readers that a window here has. */
export class FileAnswerer {
  readonly #runs: string | undefined;
  readonly #files: RunFilesPort;
  readonly #answers: { readonly [About in keyof Answers]: (asked: Asked<About>) => Answers[About] } = {
    metrics: (asked) => this.#metrics(asked),
    'log-end': ({ directory, count }) => this.#files.logTail(directory, count),
    'log-size': ({ directory }) => this.#files.openLog(directory).look(),
    'log-part': ({ directory, from, length }) => this.#files.openLog(directory).read(from, length).toString('base64'),
    details: ({ directory }) => this.#files.runDetails(directory),
    usage: (asked) => this.#usage(asked),
    samples: (asked) => this.#samples(asked),
    seeds: ({ directory }) => this.#files.fromSeeds?.(directory) ?? [],
    'last-launched': () => lastLaunched(runsDirectory(this.#runs)),
    summary: (asked) => this.#summary(asked),
  };
  /** Oldest use first. */
  readonly #readers = new Map<string, MetricReader>();

  /** @param runs The runs directory, as typed. */
  constructor(runs: string | undefined, files: RunFilesPort = runFiles) {
    this.#runs = runs;
    this.#files = files;
  }

  /** Rejects as the readers throw. */
  async answer(question: FileQuestion): Promise<FileAnswers[FileQuestion['about']]> {
    const answer = this.#answers[question.about] as (asked: FileQuestion) => Answers[keyof Answers];
    return answer(question);
  }

  async #metrics({ directory, keys: sum, series, report }: Asked<'metrics'>): Promise<FileAnswers['metrics']> {
    const reader = this.#readerOf(directory);
    const end = performance.now() + PATIENCE_MS;
    do {
      reader.refresh();
      await turn();
    } while (reader.more === true && performance.now() < end);
    const keys = reader.keys();
    return {
      keys: sumOfKeys(keys) === sum ? null : keys,
      series: series.map((asked) => told(reader, asked)),
      clock: reader.clock ?? null,
      report: report ? (reader.describe?.() ?? null) : null,
      isPartial: reader.more === true,
      lines: reader.lines?.() ?? [],
    };
  }

  #readerOf(directory: string): MetricReader {
    const reader = this.#readers.get(directory) ?? this.#files.metrics(directory);
    this.#readers.delete(directory);
    this.#readers.set(directory, reader);
    if (this.#readers.size > KEPT) this.#readers.delete(this.#readers.keys().next().value!);
    return reader;
  }

  async #usage({ directory }: Asked<'usage'>): Promise<FileAnswers['usage']> {
    const reading = this.#files.usage!(directory);
    while (!reading.isOver) {
      reading.step();
      await turn();
    }
    return reading.usage;
  }

  async #samples({ directory, known }: Asked<'samples'>): Promise<FileAnswers['samples']> {
    const read = withinLine(await this.#files.samples!(directory));
    const sum = crc32(JSON.stringify(read));
    return { sum, samples: sum === known ? null : read };
  }

  async #summary({ sweep, width, ascii }: Asked<'summary'>): Promise<FileAnswers['summary']> {
    const runs = this.#runs === undefined ? {} : { runs: this.#runs };
    const lay = await readReport(sweep, { ...runs, ascii, hasAnswers: false });
    return lay(width);
  }
}

/** The latest samples, as many as a slow line should carry at once. */
function withinLine(samples: Samples): Samples {
  let left = SAMPLES_CHARACTERS;
  const first = samples.all.findLastIndex(({ prompt, completion }) => (left -= prompt.length + completion.length) < 0);
  return { ...samples, all: samples.all.slice(first + 1), isCut: samples.isCut || first >= 0 };
}

/** What is behind the points that the window has, if these are still the first ones. */
function told(reader: MetricReader, { key, x, have, sum }: AskedSeries): FileAnswers['metrics']['series'][number] {
  const line = reader.series(key, x);
  const from = have <= line.x.length && sumOf(line, have) === sum ? have : 0;
  return { from, x: bytesOf(line.x, from).toString('base64'), y: bytesOf(line.y, from).toString('base64') };
}
