import { type ChildProcess, spawn } from 'node:child_process';

/** A short program to run: nvidia-smi, git, `python --version`. */
export type ShortCall = {
  program: string;
  args: readonly string[];
  environment: Readonly<NodeJS.ProcessEnv>;
  patienceMs: number;
  /** Default: our own working directory. */
  cwd?: string;
  /** Given to it as its stdin. */
  input?: string;
  /** Bytes of output after which the program is stopped. */
  most?: number;
};

/**
 * What became of it, and what it had printed by then. `failed`: the exit code is not 0 (null: it could not be started, said
 * too much, or a signal ended it). `hung`: it did not end in time.
 */
export type ShortAnswer =
  | { kind: 'answered'; stdout: Buffer }
  | { kind: 'failed'; code: number | null; stdout: Buffer; reason: string }
  | { kind: 'hung'; stdout: Buffer };

/** The same as text. */
type Answer =
  | { kind: 'answered'; stdout: string }
  | { kind: 'failed'; code: number | null; stdout: string; reason: string }
  | { kind: 'hung' };

/**
 * Programs that SIGKILL has not ended: they are inside a driver, or on a disk, that does not return. To start another would
 * hang as well, and pile up. By program and folder.
 */
const stuck = new Map<string, ChildProcess>();

/** How long a killed program may take to be gone, ms. */
const MERCY_MS = 500;
/** How long output may still come after a program has ended; a daemon that it left behind may hold it open for ever, ms. */
const DRAIN_MS = 200;
const MOST = 2 ** 24;
const nothing = Buffer.alloc(0);

/**
 * Runs a short program and gives what it printed. Never rejects, and takes no longer than `patienceMs` and a moment, even
 * where the program cannot be killed.
 *
 * By hand, because that is the point: a library's promise settles when the program has ended and its output is closed, and
 * of a program in a hung driver neither comes.
 */
export async function shortCall(call: ShortCall): Promise<ShortAnswer> {
  if (stuck.has(placeOf(call))) return { kind: 'hung', stdout: nothing };
  const child = started(call);
  if (child instanceof Error) return { kind: 'failed', code: null, stdout: nothing, reason: child.message };
  const most = call.most ?? MOST;
  const stdout = collected(child.stdout, most, () => child.kill('SIGKILL'));
  // Of what it complains about, the beginning is enough.
  const stderr = collected(child.stderr, most, () => undefined);
  // That it has ended without reading this is told by its exit code.
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(call.input ?? '');
  const end = await endOf(child, call);
  for (const stream of [child.stdout, child.stderr]) stream?.destroy();
  return answerOf(end, { ...stdout(), most }, stderr().bytes);
}

function answerOf(
  end: End | 'hung',
  { bytes: stdout, isCut, most }: Heard & { most: number },
  stderr: Buffer,
): ShortAnswer {
  if (end === 'hung') return { kind: 'hung', stdout };
  if (isCut) return { kind: 'failed', code: null, stdout, reason: `more than ${most} bytes` };
  if (end.code === 0) return { kind: 'answered', stdout };
  return { kind: 'failed', code: end.code, stdout, reason: words(stdout, stderr, end.problem) };
}

/** A short call whose answer is text. */
export async function askProgram(call: ShortCall): Promise<Answer> {
  const answer = await shortCall(call);
  return answer.kind === 'hung' ? { kind: 'hung' } : { ...answer, stdout: answer.stdout.toString('utf8') };
}

function placeOf({ program, cwd = '' }: ShortCall): string {
  return `${program}\n${cwd}`;
}

function started({ program, args, environment, cwd }: ShortCall): ChildProcess | Error {
  try {
    return spawn(program, args, { env: environment, stdio: 'pipe', ...(cwd === undefined ? {} : { cwd }) });
  } catch (error) {
    // What no system call can take, a NUL byte for example.
    return error as Error;
  }
}

type End = { code: number | null; problem: string };

function endOf(child: ChildProcess, call: ShortCall): Promise<End | 'hung'> {
  return new Promise((resolve) => {
    let isLate = false;
    let timer = setTimeout(() => {
      isLate = true;
      child.kill('SIGKILL');
      timer = setTimeout(() => {
        stuck.set(placeOf(call), child);
        // Nor may it keep us from ending.
        child.unref();
        resolve('hung');
      }, MERCY_MS);
    }, call.patienceMs);
    const finish = (code: number | null, problem: string) => {
      clearTimeout(timer);
      if (stuck.get(placeOf(call)) === child) stuck.delete(placeOf(call));
      resolve(isLate ? 'hung' : { code, problem });
    };
    child.once('error', (error) => finish(null, error.message));
    child.once('close', (code, signal) => finish(code, signal ?? `exit code ${code}`));
    child.once('exit', (code, signal) => {
      clearTimeout(timer);
      timer = setTimeout(() => finish(code, signal ?? `exit code ${code}`), DRAIN_MS);
    });
  });
}

type Heard = { bytes: Buffer; isCut: boolean };

/** The first `most` bytes of a stream; there is none where no descriptor was left for it. `onMore`: there are more than that. */
function collected(stream: NodeJS.ReadableStream | null, most: number, onMore: () => void): () => Heard {
  const chunks: Buffer[] = [];
  let [size, isCut] = [0, false];
  stream?.on('data', (chunk: Buffer) => {
    chunks.push(chunk.subarray(0, most - size));
    size += chunks.at(-1)!.length;
    if (isCut || chunk.length === chunks.at(-1)!.length) return;
    isCut = true;
    onMore();
  });
  return () => ({ bytes: Buffer.concat(chunks), isCut });
}

function words(stdout: Buffer, stderr: Buffer, problem: string): string {
  const said = stdout.toString('utf8').trim() || stderr.toString('utf8').trim();
  return (said || problem).split('\n').slice(0, 3).join(' ');
}
