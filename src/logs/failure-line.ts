import { shellQuote } from '../text/shell-words.js';
import { type FoundException, type LineRole, Tracebacks } from '../text/tracebacks.js';

/** Length limit of a line in a row of the screen, in characters. */
const LONGEST = 300;
/** Processes that fail within so many lines of each other fail for one reason. */
const TOGETHER = 150;
/** Lines that may follow a traceback at the end of a log, beside those of loggers and launchers. */
const MOST_AFTER = 8;

/** Lines of an exception's message in which want of memory is looked for. */
const MESSAGE_LINES = 5;

/** How programs report an error of their own: Python without a traceback, and other languages and libraries. */
const errors: readonly RegExp[] = [
  // Python, also with a module path (`torch.OutOfMemoryError: …`), in an exception group (`  | ValueError: …`), of a rank.
  /^(?:\s*[|+][\s|+-]*|\[\w*rank\d+\]: ?)?(?:[A-Za-z_][\w]*\.)*(?!\w*Warning\b)_?[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Failure)(?:$|: (?![\d.+-]+$))/,
  // Node (`Error: …`, `TypeError [ERR_X]: …`, `Uncaught …`), Rust's main, C#, Elixir, Ruby, Lua.
  /^(?:Uncaught (?:\w+ )?|Unhandled exception[.:] )?(?:[A-Z][\w.]*)?(?:Error|Exception)(?: \[[\w]+\])?: (?![\d.+-]+$)\S/,
  /^\[UnhandledPromiseRejection: |^\*\* \(\w[\w.]*Error\)|^\S+:\d+:in .*\(\w[\w:]*(?:Error|Exception)\)$|^lua\w*: \S/,
  // R, Matlab, Fortran.
  /^Error in .* ?: ?(?:\S.*)?$|^Error using \S|^Fortran runtime error: /,
  // Libraries below Python; lines marked as warnings do not count, as the program continued.
  /^(?!.*\b(?:WARN(?:ING)?|INFO|DEBUG)\b).*(?:\bCUDA out of memory\b|\bCUDA error: |\bcuBLAS error\b|\bNCCL error\b|\bRESOURCE_EXHAUSTED\b)/,
  /^memory allocation of \d+ bytes failed$|: Cannot allocate memory$|^Exception in thread "[^"]*" [\w.]+/,
  /^thread '.*' (?:\(\d+\) )?panicked at |^panic: |^fatal error: |^Fatal (?:Python )?error: |\bterminate called after throwing\b/,
  /\bterminating (?:due to|with) uncaught exception\b|: Assertion [`'].*['`] failed\.?$|^LLVM ERROR: /,
  /^(?:\S*sh|env|\S+): (?:line )?(?:\d+: )?.*(?:not found|Permission denied|No such file or directory|Exec format error)$/,
  /\bNo space left on device\b|\bDisk quota exceeded\b/,
];

/** Messages of a program that does not say which kind of error it is. */
const messages: readonly RegExp[] = [
  /^(?:.*[:\]] ?)?(?:slurmstepd: )?(?:fatal|error)(?:\[\w+\])?: (?![\d.+-]+$)\S/i,
  /^(?:.*[\s[\]:|])?(?:ERROR|CRITICAL|FATAL)\b[\s:\]|-]*\S/,
  /^\[LightGBM\] \[Fatal\] \S/,
  // Hydra, before the advice to ask for a traceback.
  /^(?:Could not override '|In '[^']+': |Key '[^']+' is not in struct|You must specify '|Error (?:merging|locating|in call to|instantiating) |Cannot find primary config|(?:mismatched|extraneous) input '|no viable alternative|token recognition error)/,
  // A parser of arguments that draws a box (tyro, typer): its line is found by the title above it.
];
const boxTitle = /^[╭┌+][-─━ ]+(?:Error|Parsing error|Unrecognized|Required|Invalid)[^─]*[-─━ ]+[╮┐+]$/;

/** How a process ended, by the words of a shell or a launcher. */
const signals: readonly RegExp[] = [
  // A logger says the same of a part of a program that ends well.
  /^(?!.*\b(?:WARN(?:ING)?|INFO|DEBUG)\b)(?:.*[\s:])?(?:Killed|Terminated|Aborted|Segmentation fault|Bus error|Illegal instruction|Floating point exception)(?: \(core dumped\))?$/i,
  // The shell that waited for the program reports its signal.
  /^\S+: (?:line )?\d+:\s+\d+ (?:Killed|Terminated|Aborted|Segmentation fault|Bus error)\b/,
  /\bSignal \d+ \(SIG\w+\) received by PID \d+|\bexited on\s+signal \d+ \(|\bEXIT STRING: \S.*\(signal \d+\)|\bKILLED BY SIGNAL: \d+ \(/,
  /^zsh: (?:killed|terminated|abort|segmentation fault|bus error|illegal hardware instruction)\b/,
  /^srun: error: \S+ tasks? [\d,-]+: (?!Exited|Terminated)/,
  /\boom-kill|\bout of memory\b/i,
];

/** Lines of a launcher, which only say that the program failed. */
const launchers: readonly RegExp[] = [
  /\btorch[/.]distributed[/.](?:elastic|run|launch)|\[launch\.py:\d+:|\bconda run\b/,
  /\b(?:exited|exits|terminated|failed|stopped|finished) with (?:exit |return |error )?(?:code|status)\b|\(exitcode: -?\d+\)/i,
  /\bnon-zero (?:exit )?(?:code|status)\b|^exit status \d+$|\bCommand failed\b/i,
  /^(?:srun|salloc|sbatch): |slurmstepd: error: \*{3} STEP \S+ ON \S+ CANCELLED AT \S+ \*{3}$/,
  /^(?:mpirun|mpiexec|prterun|orterun|horovodrun)\b|^MPI_ABORT was invoked|^=+ +BAD TERMINATION OF/,
  /^g?make(?:\[\d+\])?: \*{3} |^npm (?:ERR!|error) |^error: Recipe |^ninja: build stopped/,
];

/** Exceptions of a parent or a launcher, raised because another process failed, or pointing to what stands above. */
const ofAnother =
  /(?:^|\.)(?:CalledProcessError|ChildFailedError|Process(?:Raised|Exited)Exception|RayTaskError\(\w+\)|RayActorError|ActorDiedError|ActorUnavailableError|WorkerCrashedError|TuneError|TrainingFailedError|FailedJobError|UncompletedJobError|(?:Base)?ExceptionGroup|PapermillExecutionError|_?RemoteTraceback)(?::|$)|\b(?:root cause|error|exception|traceback|message|output|log|report)s?(?: printed)? above\b|\bsee (?:the )?(?:\w+ ){0,2}above\b|\bprevious error messages\b|\blook up to see its traceback\b/i;
/** Exceptions of a process that lost the other end: that one failed first. Also the answer to an interrupt. */
const ofTheLost =
  /(?:^|\.)(?:KeyboardInterrupt|EOFError|BrokenPipeError|ConnectionResetError|ConnectionAbortedError)(?:$|: (?:\[Errno \d+\] .*)?$)|\bConnection (?:closed|reset) by (?:remote )?peer\b|\bremote process exited\b|\bcommunicator was aborted\b/;

/** What a log says of a failure. `index`: the line among those given. */
type Failure = {
  readonly line: string;
  readonly index: number;
  /** The line that says that memory has run out, if the program failed because of that; else null. */
  readonly outOfMemory: string | null;
  /** Whether the program was certainly ended by it: a traceback, a panic, a signal. */
  readonly isEnd: boolean;
};

/** `causes`: indices of the exceptions that it follows from. */
type Raised = FoundException & { readonly index: number; readonly causes: readonly number[] };

/**
 * The line of a log that best explains why the program failed: its last exception, error or signal, rather than what launchers,
 * parents and other processes say after it. Null: there is none.
 *
 * @param lines The end of the log, oldest first, as `lastLines` returns it.
 */
export function findFailure(lines: readonly string[]): Failure | null {
  return failureAmong(lines, rolesOf(lines));
}

function rolesOf(lines: readonly string[]): LineRole[] {
  const reader = new Tracebacks();
  return lines.map((line) => reader.take(line));
}

function failureAmong(lines: readonly string[], roles: readonly LineRole[]): Failure | null {
  const raised = raisedIn(roles);
  const index = adviceIn(lines) ?? bestOf(lines, roles, raised);
  const verdict = lines.findLastIndex(isVerdict);
  if (index === null) return null;
  const isRaised = raised.some((each) => each.index === index);
  const memory = verdict >= 0 ? verdict : memoryIn(lines, raised, index);
  return {
    ...{ line: wordsAt(lines, index), index },
    outOfMemory: memory === null ? null : wordsAt(lines, memory),
    isEnd: isRaised || isCertain(lines, index),
  };
}

/** The failure with which a log ends, though the exit code is 0; null: the program went on after it, or there is none. */
export function failureAtEnd(lines: readonly string[]): Failure | null {
  const roles = rolesOf(lines);
  const failure = failureAmong(lines, roles);
  if (failure === null || !failure.isEnd) return null;
  const after = lines.filter((line, at) => at > failure.index && roles[at] === null && !isTrailer(line));
  return after.length <= MOST_AFTER ? failure : null;
}

/** The error of our own programs, which print it, an empty line, and `→ what to do`. */
function adviceIn(lines: readonly string[]): number | null {
  const advice = lines.findLastIndex((line) => line.startsWith('→ '));
  const isAdvice = advice >= 2 && lines[advice - 1] === '' && lines[advice - 2]!.trim() !== '';
  return isAdvice ? advice - 2 : null;
}

/** The last exception of each chain. */
function raisedIn(roles: readonly LineRole[]): Raised[] {
  const raised: Raised[] = [];
  for (const [index, role] of roles.entries()) {
    if (role === null || typeof role !== 'object') continue;
    const before = role.isChained ? raised.findLastIndex(({ stream }) => stream === role.stream) : -1;
    const [cause] = before < 0 ? [] : raised.splice(before, 1);
    const causes = cause === undefined ? [] : [...cause.causes, cause.index];
    raised.push({ ...role, index, causes, aside: cause?.aside ?? role.aside });
  }
  return raised;
}

/** The best of the lines: an own exception or error, a message, a signal, an exception of another, a launcher's line. */
function bestOf(lines: readonly string[], roles: readonly LineRole[], raised: readonly Raised[]): number | null {
  const isFree = (index: number) => roles[index] === null || roles[index] === 'report';
  const last = (patterns: readonly RegExp[], without: readonly RegExp[] = []): number =>
    lines.findLastIndex(
      (line, index) =>
        isFree(index) && patterns.some((each) => each.test(line)) && !without.some((each) => each.test(line)),
    );
  const own = raised.filter(({ text, aside }) => aside === null && !ofAnother.test(text) && !ofTheLost.test(text));
  const lost = raised.filter(({ text, aside }) => aside !== 'ignored' && !ofAnother.test(text));
  const others = raised.filter(({ aside }) => aside !== 'ignored');
  const found = [
    Math.max(firstToFail(lines, own), last(errors, [...launchers, ofAnother, ofTheLost])),
    Math.max(lost.at(-1)?.index ?? -1, last(errors, [ofAnother])),
    Math.max(last(messages, launchers), boxed(lines)),
    last(signals),
    Math.max(others.at(-1)?.index ?? -1, last(errors)),
    raised.at(-1)?.index ?? -1,
    last([...messages, ...launchers]),
  ];
  return found.find((index) => index >= 0) ?? null;
}

/** The line in the box of a parser of arguments; -1: there is none. */
function boxed(lines: readonly string[]): number {
  const title = lines.findLastIndex((line) => boxTitle.test(line.trim()));
  return title >= 0 && title + 1 < lines.length ? title + 1 : -1;
}

/**
 * The exception that explains the others where several processes failed together: want of memory, else that of the rank that
 * torchrun names as the first, else the first one. Of one process: its last.
 */
function firstToFail(lines: readonly string[], raised: readonly Raised[]): number {
  const last = raised.at(-1);
  if (last === undefined) return -1;
  if (last.stream === '') return last.index;
  const ends = new Map(raised.map((each) => [each.stream, each]));
  const together = [...ends.values()].filter(({ stream, index }) => stream !== '' && last.index - index < TOGETHER);
  const root = lines.findLastIndex((line) => line.startsWith('Root Cause (first observed failure)'));
  const rank = root < 0 ? undefined : /^\s*rank\s*: (\d+)/m.exec(lines.slice(root, root + 6).join('\n'))?.[1];
  const best =
    together.find(({ index, causes }) => [...causes, index].some((each) => saysOutOfMemory(lines[each]!))) ??
    together.find(({ stream }) => rank !== undefined && stream.includes(`rank${rank}]`)) ??
    together.toSorted((a, b) => a.index - b.index)[0]!;
  return best.index;
}

/** The line that says that memory has run out: the failure itself, one that it follows from, or a further line of its message. */
function memoryIn(lines: readonly string[], raised: readonly Raised[], index: number): number | null {
  const { causes = [], stream = '' } = raised.find((each) => each.index === index) ?? {};
  const message = lines.slice(index + 1, index + 1 + MESSAGE_LINES);
  const end = message.findIndex((line) => line.trim() === stream.trim() || !line.startsWith(stream));
  const further = message.slice(0, end < 0 ? undefined : end).map((_, at) => index + 1 + at);
  return [index, ...causes.toReversed(), ...further].find((each) => saysOutOfMemory(lines[each]!)) ?? null;
}

/** The line with what it announces: `panicked at x.rs:3:` is followed by the message, `terminate called …` by `what(): …`. */
function wordsAt(lines: readonly string[], index: number): string {
  const line = lines[index]!.replace(/^[│┃|]\s*(.*?)\s*[│┃|]$/, '$1');
  const next = lines.slice(index + 1, index + 3).find((each) => each.trim() !== '') ?? '';
  const what = /^\s*what\(\):\s+(.*)/.exec(next)?.[1];
  if (what !== undefined && !line.includes(what)) return shorten(`${line}: ${what}`);
  const isAnnounced = line.trimEnd().endsWith(':') && /^\s*(?!at )\w/.test(next) && !next.includes('Traceback (most');
  return shorten(isAnnounced ? `${line.trimEnd()} ${next.trim()}` : line);
}

function isCertain(lines: readonly string[], index: number): boolean {
  const [line, next = ''] = [lines[index]!, lines[index + 1] ?? ''];
  const isPanic =
    /panicked at |^panic: |\bnot found$|^Error in |^ERROR: LoadError|^Exception in thread "|^Fatal |terminate called/;
  return /^\s+at \S/.test(next) || isPanic.test(line) || signals.slice(0, 3).some((each) => each.test(line));
}

/** What loggers, shells and launchers write after the end of a program. */
function isTrailer(line: string): boolean {
  return /^(?:\s|$)|^wandb: |\bWarning\b|\|.*\| \d+\/\d+/.test(line) || launchers.some((each) => each.test(line));
}

/** A line of a log without its decoration, shortened to fit a row. */
function shorten(line: string): string {
  const text = line.replace(/^[\s|+-]+/, '').trim();
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text;
}

/** Words of which every error line contains one: a text without them can be skipped. */
export const errorWords =
  /[Ee]rror|ERR|Exception|exception|Interrupt|Failure|Traceback|[Ff]atal|FATAL|CRITICAL|CUDA|RESOURCE_EXH|[Kk]illed|[Tt]erminated|[Aa]borted|[Ss]egmentation|[Ii]llegal|panic|terminate|oom-kill|not found|Cannot alloc|No space|Assertion/g;

/** Lines that are an error where nothing else is known of the program, and are too common in healthy logs to start reading there. */
const common = [signals.at(-1)!, signals[3]!];
const signs = [
  ...errors,
  ...messages.slice(0, 2),
  ...signals.filter((each) => !common.includes(each)),
  /^npm ERR! \S|\boom-kill/,
];

/** Whether a line of a log, safe to draw, reports an error, so that reading should start there. */
export function isErrorLine(line: string): boolean {
  return line.includes('Traceback (most recent call last)') || signs.some((sign) => sign.test(line));
}

/** Patterns of messages about exhausted memory of a GPU, a process or the machine; a single match means out of memory. */
const sayings: readonly RegExp[] = [
  // PyTorch, CuPy, ROCm, Apple, NCCL: `CUDA out of memory. Tried to …`, `CUDA error: out of memory`, `Cuda failure 2 'out of memory'`.
  /\b(?:CUDA|HIP|XPU|MPS|NPU|GPU)\b.{0,20}\bout of memory\b/i,
  /\bOutOfMemory(?:Error|Exception)\b/,
  /\bcuda(?:ErrorMemoryAllocation|ErrorOutOfMemory)\b|\bCUDA_ERROR_OUT_OF_MEMORY\b|\bhipErrorOutOfMemory\b/,
  /\bCU(?:BLAS|DNN|FFT|SOLVER|SPARSE)_(?:STATUS_)?ALLOC_FAILED\b/,
  // JAX and TensorFlow.
  /\bRESOURCE_EXHAUSTED: .*\b(?:out of memory|OOM|alloc)/i,
  /\bResourceExhaustedError\b.*\bOOM\b|\bOOM when allocating tensor\b/,
  // Python, NumPy, Arrow, the C++ and C libraries, LLVM, the system.
  /(?:^|[\s.:|])\w*MemoryError(?:$|:)/,
  /\bstd::bad_(?:array_new_length|alloc)\b/,
  /\b(?:Cannot|can't|could not) allocate memory\b|\[Errno 12\]|\bENOMEM\b|^LLVM ERROR: out of memory/i,
  // LightGBM, Node, Go, Rust, R, Julia, Ruby.
  /\[LightGBM\] \[Fatal\] bad allocation/,
  /\bJavaScript heap out of memory\b|\bArray buffer allocation failed\b/,
  /^fatal error: (?:runtime: )?(?:out of memory|cannot allocate memory)/,
  /\bmemory allocation of \d+ bytes failed\b/,
  /\bcannot allocate vector of size\b|\bvector memory (?:exhausted|limit of )/,
  /\bOut of GPU memory trying to allocate\b/,
  /\bfailed to allocate memory \(NoMemoryError\)/,
  // Programs that saw the kernel kill a process: PyTorch's data loader.
  /\bDataLoader worker \(pid\(?s?\)? [\d, ]+\) (?:is killed by signal: Killed|exited unexpectedly with exit code -?9)/,
  /\bOOM[ -]Killed\b|\bOOMKilled\b/i,
];

/** What Slurm, Ray and the kernel say of a process that they ended for want of memory, whatever its parent says of the loss. */
const verdicts =
  /\boom-kill(?:er)?\b|\boom_kill event|^srun: error: .*: tasks? [\d,-]+: Out Of Memory$|\bkilled due to (?:memory pressure|the node running low on memory)/i;

/** Levels of messages after which a program continues. */
const survived = /\b(?:WARN(?:ING)?|INFO|DEBUG)\b/;

/** Whether a line says that memory has run out. */
function saysOutOfMemory(line: string): boolean {
  return (isVerdict(line) || sayings.some((saying) => saying.test(line))) && !survived.test(line);
}

/** Whether a line reports that another program has ended a process for want of memory. */
function isVerdict(line: string): boolean {
  return verdicts.test(line);
}

/**
 * What to type where a program refused its arguments because it takes them as Hydra does; null: it failed for another reason.
 *
 * @param lines The end of its log. @param argv Its command, with the parameters among the words.
 */
export function argumentAdvice(
  lines: readonly string[],
  argv: readonly string[],
  parameters: readonly string[],
): string | null {
  const isHydra = lines.some((line) => ofHydra.test(line));
  const isRefused = lines.some((line) => refused.test(line));
  const isPassed = argv.some((word) => parameters.some((name) => isOption(word, name)));
  if (!isHydra || !isRefused || !isPassed) return null;
  const command = argv.filter(
    (word, at) => !parameters.some((name) => isOption(word, name) || isValueOf(argv[at - 1], word, name)),
  );
  const assignments = parameters.map((name) => `${name}=…`);
  return `it takes its parameters as Hydra does: \`memrl-tui grid ${assignments.join(' ')} --args hydra -- ${shellQuote(command)}\``;
}

/** The usage of every program of Hydra. */
const ofHydra = /\[--hydra-help\]|\[--cfg \{job,hydra,all\}\]/;
const refused = /\berror: (?:unrecognized arguments|ambiguous option|argument )/;

function isOption(word: string, name: string): boolean {
  return word === `--${name}` || word.startsWith(`--${name}=`);
}

/** Whether a word is the value of an option before it: `--lr 0.1`. */
function isValueOf(before: string | undefined, word: string, name: string): boolean {
  return before === `--${name}` && !word.startsWith('--');
}
