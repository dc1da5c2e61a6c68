/**
 * All file names that the manager and the runs agree on. Each file has one writer.
 *
 *   runs/.supervisor/…                     the supervisor's own
 *   runs/.supervisor/terminals/…           the executor: for each run with a terminal the path of the socket of its tmux server
 *   runs/<sweep>/sweep.yaml                as submitted last; `sweep.toml` where it is TOML
 *   runs/<sweep>/sweep-<time>.yaml         as submitted before, where it was another text
 *   runs/<sweep>/origin.txt             path of the file that was submitted last
 *   runs/<sweep>/launch.json            options it was launched with last that say what runs: `--set`, `--per-gpu`
 *   runs/<sweep>/report.cache              whoever reports: what it took from long files; may be removed at any time
 *   runs/<sweep>/code/…                    the supervisor: differences to the commit, versions of packages
 *   runs/<sweep>/code/snapshot-…/          whoever launches: copies of the code
 *   runs/<sweep>/<run>/run.json            the supervisor
 *   runs/<sweep>/<run>/annotation.json     the supervisor: star, tags and note
 *   runs/<sweep>/<run>/written.json        the supervisor: files elsewhere that the run writes, and how it is known
 *   runs/<sweep>/<run>/system-usage.jsonl  the supervisor: what the run used of the machine, as rows of metrics
 *   runs/<sweep>/<run>/output.log          the run's stdout and stderr (all attempts)
 *   runs/<sweep>/<run>/attempts/<n>/pid    the shim of attempt n: claims the attempt and identifies its process
 *   runs/<sweep>/<run>/attempts/<n>/stdin  the shim of attempt n, where its run reads typed lines: a pipe; the supervisor writes to it
 *   runs/<sweep>/<run>/attempts/<n>/metrics/  the executor: tables as attempt n had left them, when the next one began
 *   runs/<sweep>/<run>/attempts/<n>/exit   the shim of attempt n: exit code and newline (on a full disk: `run-record.ts`)
 *   runs/<sweep>/<run>/metrics.jsonl …     the run
 *   runs/<sweep>/<run>/episodes.jsonl      the run, when it is told to: guesses and rewards
 *   runs/<sweep>/<run>/timing.jsonl        the run: how long its steps took, apart from what is the same each time
 *   runs/<sweep>/reference.json, runs/<sweep>/<run>/reference.json   memrl ideal: learners to compare with
 *   runs/<sweep>/study.json, study-<name>.json, runs/<sweep>/<run>/study.json   any program: what it has to say beyond metrics
 */
export const runFiles = {
  record: 'run.json',
  annotation: 'annotation.json',
  written: 'written.json',
  usage: 'system-usage.jsonl',
  log: 'output.log',
  attempts: 'attempts',
  pid: 'pid',
  exit: 'exit',
  stdin: 'stdin',
  metrics: 'metrics.jsonl',
  config: 'config.json',
  episodes: 'episodes.jsonl',
  timing: 'timing.jsonl',
  reference: 'reference.json',
  study: 'study.json',
  lock: 'memrl.lock',
  checkpoints: 'checkpoints.jsonl',
  checkpointDirectory: 'checkpoints',
} as const;

export const sweepFiles = {
  text: 'sweep.yaml',
  toml: 'sweep.toml',
  origin: 'origin.txt',
  launch: 'launch.json',
  reportCache: 'report.cache',
  code: 'code',
  captured: 'captured.json',
} as const;

/** Names of studies in the directory of a sweep, of which several programs may write one each. */
export const isStudyName = (name: string): boolean => /^study(-.+)?\.json$/.test(name);

/** The text of a sweep is in one of these files. */
export const sweepTexts: readonly string[] = [sweepFiles.text, sweepFiles.toml];

/** Names of code snapshots, in the folder `code` of a sweep, begin with this. */
export const snapshotPrefix = 'snapshot-';

export const supervisorFiles = {
  directory: '.supervisor',
  journal: 'journal.jsonl',
  /** What has happened to the runs, for `memrl-tui events`; and the part before it, once it was long. */
  events: 'events.jsonl',
  earlierEvents: 'events.1.jsonl',
  lock: 'lock.json',
  /** The supervisor touches this file regularly: its modification time is that of the last heartbeat. */
  lease: 'lease',
  log: 'log',
  /** Name of the executor whose runs may not have ended yet. */
  executor: 'executor',
  /** What the supervisor and workers on a cluster tell each other. */
  packs: 'packs',
  /** Directories of runs that are symbolic links, and their targets at the first start. */
  linked: 'linked.jsonl',
  /** The number of early-termination rungs at which each live run has been judged. */
  judged: 'judged.json',
  /** What the files of ended runs say, in a file for each sweep; may be removed at any time. */
  summaries: 'summaries',
  plans: 'plans',
  environments: 'environments',
  terminals: 'terminals',
} as const;

/**
 * Variables in the environment of every process of a run. Stray processes are found again by the directory, which is unique on a
 * machine; a program may read all three.
 */
/** The tag that MLflow's runs get in a run of ours (`MLFLOW_RUN_CONTEXT`): its value is the run's directory. */
export const mlflowTag = 'memrl-tui.run';

export const runMarks = { id: 'MEMRL_RUN', directory: 'MEMRL_RUN_DIR', attempt: 'MEMRL_ATTEMPT' } as const;

/** The line between the attempts in a run's log, so that the log of a resumed run can be read. */
export function attemptSeparator(attempt: number, at: Date): string {
  return `──── attempt ${attempt}, ${at.toISOString()} ────`;
}

/** Matches a whole line that `attemptSeparator` wrote. */
export const attemptRule = /^──── attempt \d+, \S+Z ────$/;

/** The lines of the last attempt, among the last lines of a log. */
export function linesOfLastAttempt(lines: readonly string[]): readonly string[] {
  return lines.slice(lines.findLastIndex((line) => attemptRule.test(line)) + 1);
}
