import { once } from 'node:events';
import type { Socket } from 'node:net';
import { hostname } from 'node:os';
import { LineSplitter } from '../../base/line-splitter.js';
import { errorText, UserError } from '../../base/user-error.js';
import { openOrStartSupervisor, openToLook } from '../../client/ensure-supervisor.js';
import { type decodeOrder, WIRE_VERSION, wireMarks } from '../../protocol/host-order.js';
import { PROGRAM_VERSION } from '../../protocol/older-version.js';
import { exitCodes } from '../answers/exit-codes.js';
import { supervisorPrograms } from '../open-fleet.js';
import { existingRunsDirectory } from '../show/runs-here.js';
import { own } from '../ports.js';
import { FileAnswerer } from './file-answers.js';
import { FileQuestion, NumberedLine } from './file-questions.js';

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
