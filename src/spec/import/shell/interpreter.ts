import type { Place } from '../../file/diagnostic.js';
import type { ImportNote } from '../sweep-text.js';
import { arithmeticText, boundText, expandWhole, expandWords, outputOf, type Scope } from './expansion.js';
import type { Launch } from './launch-site.js';
import { isParallel, parallelLaunches } from './parallel.js';
import { parseScript } from './parse-script.js';
import { isQueue, queuedCommand } from './queues.js';
import { literalText, placedAt, ScriptMistake, type ScriptNode, type Word } from './script-node.js';
import { isList, plainText, type Text, type Variable } from './script-values.js';
import { isIterationPlain, wholeIteration } from './whole-iteration.js';

/** What a script would start. */
export type ScriptRun = {
  readonly launches: readonly Launch[];
  readonly notes: readonly ImportNote[];
  readonly options: readonly string[];
  /** Whether the commands are given to another queue. */
  readonly isQueued: boolean;
};

type Simple = Extract<ScriptNode, { kind: 'simple' }>;

/** Limit on the commands that a script starts, above what people write loops for; each is worked out by itself. */
const mostLaunches = 20_000;
/** Commands that prepare the shell, and must be repeated before the launch. */
const preparing =
  /^(?:source|\.|module|ml|conda|mamba|micromamba|pyenv|nvm|spack|ulimit|umask|trap|shopt|alias|unset|poetry|pip|pip3|mkdir|rm|cp|mv|ln|git|cd)$/;
const declaring = /^(?:export|declare|typeset|local|readonly)$/;
/** Commands without an effect on a run. */
const idle = /^(?:set|wait|sleep|echo|printf|date|true|:|hostname|pwd|nvidia-smi|pueued|clear)$/;

/**
 * Works out what a script would start, without starting anything.
 *
 * @param preset Variables that whoever starts the script sets, such as the number of a task.
 * @throws {ScriptMistake} For what only a shell can work out.
 */
export function scriptRun(
  nodes: readonly ScriptNode[],
  text: string,
  { readFile, preset = new Map() }: Options,
): ScriptRun {
  const run = new Interpreter(nodes, text, readFile);
  for (const [name, value] of preset) run.bind(name, value);
  run.nodes(nodes);
  return run;
}

type Options = { readFile: Scope['readFile']; preset?: ReadonlyMap<string, string> };

class Interpreter implements ScriptRun {
  readonly launches: Launch[] = [];
  readonly options: string[] = [];
  readonly isQueued: boolean;
  readonly #text: string;
  readonly #scope: Scope;
  readonly #exported = new Set<string>();
  readonly #loops: string[] = [];
  /** `set -e` and the like, which also hold for parts of the script. */
  readonly #settings: string[] = [];
  readonly #jobs = new Map<string, Launch>();
  readonly #told = new Map<string, ImportNote>();
  #cwd: Text | null = null;
  #hasEnded = false;

  constructor(nodes: readonly ScriptNode[], text: string, readFile: Scope['readFile']) {
    this.#text = text;
    this.#scope = { variables: new Map(), bindings: new Map(), foreign: new Set(), names: new Map(), readFile };
    this.isQueued = holdsQueue(nodes, text);
  }

  get notes(): ImportNote[] {
    const foreign = [...this.#scope.foreign].map((name) => ({
      line: null,
      text: `\`$${name}\` is not set in the script: it is taken from your environment at the launch.`,
    }));
    return [...this.#told.values(), ...foreign];
  }

  /** Enters a loop over a parameter. */
  bind(name: string, value: string): void {
    this.#loops.push(name);
    this.#scope.variables.set(name, boundText(this.#scope, name, value));
  }

  nodes(nodes: readonly ScriptNode[]): void {
    for (const node of nodes) if (!this.#hasEnded) this.#node(node);
  }

  #node(node: ScriptNode): void {
    switch (node.kind) {
      case 'simple':
        return this.#simple(node);
      case 'for':
        return this.#loop(node, node.name, expandWords(node.words, this.#scope));
      case 'count':
        return this.#count(node);
      case 'pipe':
        return this.#pipe(node);
      case 'other':
        return this.#whole(node, node.what);
    }
  }

  #loop(node: Extract<ScriptNode, { kind: 'for' | 'count' }>, name: string, values: readonly Text[]): void {
    const isWhole = !this.isQueued && !isIterationPlain(node.body, (words) => this.#isDropped(words));
    this.#loops.push(name);
    if (values.length > mostLaunches) throw tooMany(node);
    for (const { text } of values) {
      this.#scope.variables.set(name, boundText(this.#scope, name, text));
      if (isWhole) this.#launch(node, this.#part(node));
      else this.nodes(node.body);
    }
    this.#loops.pop();
    if (isWhole)
      this.#note(node, 'everything inside the loop is one run, by `bash -c`, since it is more than one command.');
    else if (!this.isQueued && this.#loops.length === 0) {
      this.#note(node, 'the runs of the loop do not wait for each other here; `--slots 1` runs one at a time.');
    }
  }

  #count(node: Extract<ScriptNode, { kind: 'count' }>): void {
    const [, name, from, , operator, to, , step] =
      /^\s*(\w+)\s*=([^;]+);\s*(\w+)\s*(<=?|>=?|!=)([^;]+);\s*(\w+)\s*(\+\+|--|\+=[^;]+|-=[^;]+)\s*$/.exec(node.head) ??
      [];
    if (name === undefined)
      throw new ScriptMistake(
        'this loop is not of the form `i = 0; i < 3; i++`.',
        'List its values: `for i in 0 1 2`.',
        node,
      );
    const number = (text: string) => Number(arithmeticText(text, this.#scope, node).text);
    const by = /^(?:\+\+|--)$/.test(step!) ? 1 : number(step!.slice(2));
    const move = step!.startsWith('-') ? -by : by;
    const holds = (value: number, end: number) => comparisons[operator!]!(value, end);
    const values: Text[] = [];
    for (let value = number(from!), end = number(to!); holds(value, end); value += move) {
      values.push(plainText(String(value)));
      if (move === 0 || values.length > mostLaunches)
        throw new ScriptMistake('this loop does not end.', 'Correct its step.', node);
    }
    this.#loop(node, name, values);
  }

  #pipe(node: Extract<ScriptNode, { kind: 'pipe' }>): void {
    const [first, ...rest] = node.commands;
    const last = rest.at(-1)!;
    const words = expandWords(last.words, this.#scope);
    if (isParallel(words)) {
      const input = rest.length === 1 ? outputOf(expandWords(first!.words, this.#scope), this.#scope, node) : null;
      if (input === null)
        throw new ScriptMistake(
          'what is piped into parallel is not known without running it.',
          'Give the values behind `:::`.',
          node,
        );
      return this.#parallel(node, words, input);
    }
    // Output that is also written to a file.
    if (rest.length === 1 && words[0]?.text === 'tee') {
      this.#note(node, '`| tee` is left out: the output of each run is in its own output.log.');
      return this.#simple(first!);
    }
    this.#whole(node, 'a pipe');
  }

  #part(node: Parameters<typeof wholeIteration>[0]): Text[] {
    return wholeIteration(node, { script: this.#text, settings: this.#settings, variables: this.#scope.variables });
  }

  /** A part that only a shell can work out, as one run. */
  #whole(node: ScriptNode, what: string): void {
    if (this.isQueued)
      throw new ScriptMistake(`${what} cannot be taken over.`, 'Write what it does for each run.', node);
    this.#launch(node, this.#part({ ...node, inside: node }));
    this.#note(node, `${what} makes this one run, by \`bash -c\`.`);
  }

  #simple(node: Simple): void {
    const [first] = node.words;
    const program = first === undefined ? '' : (literalText(first) ?? 'by a variable');
    if (program === '' || declaring.test(program)) return this.#assign(node, program);
    if (this.#isBuiltIn(node, program)) return;
    const words = expandWords(node.words, this.#scope);
    this.#redirects(node);
    if (isParallel(words)) this.#parallel(node, words, null);
    else if (isQueue(words)) this.#queued(node, words);
    else if (this.isQueued) this.#dropped(node, program);
    else this.#launch(node, words);
  }

  /** Carries out what only changes the shell; false: the command starts something. */
  #isBuiltIn(node: Simple, program: string): boolean {
    if (program === 'exit') this.#hasEnded = true;
    else if (program === 'cd') this.#enter(node);
    else if (program === 'set') this.#set(node, expandWords(node.words, this.#scope));
    else if (this.#isDropped(node.words)) this.#dropped(node, program);
    else return false;
    return true;
  }

  #dropped(node: Simple, program: string): void {
    if (/^(?:eval|exec)$/.test(program))
      throw new ScriptMistake(`\`${program}\` cannot be taken over.`, 'Write the command itself.', node);
    if (idle.test(program)) return;
    const source = this.#text.slice(node.start, node.end).split('\n')[0]!.trim();
    const why = preparing.test(program) ? '' : ', as it is no task of the queue';
    this.#note(node, `\`${source}\` is left out${why}: type it before the launch.`);
  }

  #set(node: Simple, words: readonly Text[]): void {
    if (words.slice(1).some(({ text }) => /^[^-+]/.test(text) && text !== 'pipefail')) {
      throw new ScriptMistake('arguments that the script sets itself cannot be taken over.', 'Write the values.', node);
    }
    this.#settings.push(this.#text.slice(node.start, node.end).trim());
  }

  /** Whether a script enters its own folder, or that where its job was submitted. */
  #isOwnFolder(node: Simple): boolean {
    const source = this.#text.slice(node.start, node.end);
    if (/\$\{?SLURM_SUBMIT_DIR/.test(source)) return true;
    if (!/dirname .*(?:\$0|BASH_SOURCE)|\$\{(?:0|BASH_SOURCE)/.test(source)) return false;
    this.#note(node, `\`${source.trim()}\` is left out: launch the sweep in the folder of the script.`);
    return true;
  }

  #enter(node: Simple): void {
    if (this.#isOwnFolder(node)) return;
    const [, folder, ...more] = expandWords(node.words, this.#scope);
    if (this.#cwd !== null || folder === undefined || more.length > 0) {
      throw new ScriptMistake(
        'the folder changes in a way that cannot be taken over.',
        'Write `cwd` into each group by hand.',
        node,
      );
    }
    this.#cwd = folder;
  }

  #isDropped(words: readonly Word[]): boolean {
    const program = words[0] === undefined ? null : literalText(words[0]);
    return (
      program !== null && (idle.test(program) || preparing.test(program) || program === 'eval' || program === 'exec')
    );
  }

  #assign(node: Simple, program: string | null): void {
    for (const { name, value } of node.assignments) {
      this.#jobs.delete(name);
      const job = Array.isArray(value) ? null : this.#jobOf(value as Word);
      if (job !== null) this.#jobs.set(name, job);
      else this.#scope.variables.set(name, this.#valueOf(name, value));
      if (program === 'export') this.#exported.add(name);
    }
    for (const word of node.words.slice(1)) {
      const name = literalText(word);
      if (name !== null && /^\w+$/.test(name) && program === 'export') this.#exported.add(name);
    }
  }

  #valueOf(name: string, value: Word | readonly Word[]): Variable {
    if (Array.isArray(value)) return expandWords(value as readonly Word[], this.#scope);
    const text = expandWhole(value as Word, this.#scope);
    return text.pieces === null ? boundText(this.#scope, name, text.text) : text;
  }

  /** The launch whose number a variable holds: `id=$(pueue add -p -- …)`; null: it holds something else. */
  #jobOf(word: Word): Launch | null {
    const [part] = word.parts.filter((each) => each.kind !== 'text' || each.text !== '');
    if (part?.kind !== 'command') return null;
    return placedAt(word, () => {
      const [node, ...more] = parseScript(part.source);
      const isSimple = node?.kind === 'simple' && more.length === 0 && node.words.length > 0;
      if (!isSimple || !['pueue', 'ts', 'tsp', 'sbatch'].includes(literalText(node.words[0]!) ?? '')) return null;
      const words = expandJobWords(node.words, this.#scope, this.#jobs);
      return isQueue(words) ? this.#queued({ ...node, start: part.at, line: node.line }, words) : null;
    });
  }

  #queued(node: Simple, words: readonly Text[]): Launch | null {
    const all = node.words.length > 0 ? expandJobWords(node.words, this.#scope, this.#jobs) : words;
    const read = queuedCommand(all, {
      place: node,
      line: node.line,
      previous: this.launches.at(-1) ?? null,
      jobs: this.#jobs,
      readFile: this.#scope.readFile,
    });
    for (const note of read.notes) this.#note(node, note);
    this.options.push(...read.options);
    return read.words === null ? null : this.#launch(node, read.words, read);
  }

  #parallel(node: ScriptNode, words: readonly Text[], input: string | null): void {
    const made = parallelLaunches(words, { input, place: node, scope: this.#scope });
    for (const note of made.notes) this.#note(node, note);
    this.options.push(...made.options);
    for (const { words: command, bindings } of made.launches) {
      const names = [...bindings.keys()];
      for (const [name, value] of bindings) this.#scope.bindings.set(name, value);
      this.#loops.push(...names);
      this.#launch(node, command, { keys: made.keys, after: [] });
      this.#loops.splice(-names.length, names.length);
    }
  }

  #launch(
    node: ScriptNode,
    words: readonly Text[],
    more: Pick<Launch, 'keys' | 'after'> = { keys: {}, after: [] },
  ): Launch {
    const own =
      node.kind === 'simple'
        ? node.assignments.map(({ name, value }) => [name, this.#environment(value, node)] as const)
        : [];
    const exported = [...this.#exported].flatMap((name) => {
      const value = this.#scope.variables.get(name);
      return value === undefined || isList(value) ? [] : [[name, value] as const];
    });
    const env = new Map([...exported, ...own]);
    if (env.has('CUDA_VISIBLE_DEVICES')) {
      this.#note(
        node,
        '`CUDA_VISIBLE_DEVICES` is kept as the script sets it, whatever GPU a run is given: remove it from `env` to have runs placed.',
      );
    }
    const launch: Launch = {
      ...{ site: node.start, line: node.line, words, env, cwd: this.#cwd, ...more },
      bindings: new Map(this.#scope.bindings),
      loops: [...this.#loops],
    };
    if (this.launches.push(launch) > mostLaunches) throw tooMany(node);
    return launch;
  }

  #environment(value: Word | readonly Word[], place: Place): Text {
    if (!Array.isArray(value)) return expandWhole(value as Word, this.#scope);
    throw new ScriptMistake('a list is no variable of a program.', 'Put it on a line of its own.', place);
  }

  #redirects({ redirects, line, start, end }: Simple): void {
    if (redirects.some(({ operator }) => operator.includes('<') && operator !== '<&')) {
      throw new ScriptMistake('standard input of a run is empty here.', 'Give the program the file as an argument.', {
        start,
        end,
      });
    }
    const sources = redirects.map(({ source }) => source).join(' ');
    if (sources !== '')
      this.#note({ line }, `\`${sources}\` is left out: the output of each run is in its own output.log.`);
  }

  #note({ line }: { line: number }, text: string): void {
    const key = `${line} ${text}`;
    if (!this.#told.has(key)) this.#told.set(key, { line, text });
  }
}

function tooMany(place: Place): ScriptMistake {
  const problem = `the script starts more than ${mostLaunches.toLocaleString('en-US')} commands.`;
  return new ScriptMistake(problem, 'Write it as a sweep file by hand.', place);
}

const comparisons: Readonly<Record<string, (left: number, right: number) => boolean>> = {
  '<': (left, right) => left < right,
  '<=': (left, right) => left <= right,
  '>': (left, right) => left > right,
  '>=': (left, right) => left >= right,
  '!=': (left, right) => left !== right,
};

/** Words in which the number of a job is a placeholder with the name of its variable. */
function expandJobWords(words: readonly Word[], scope: Scope, jobs: ReadonlyMap<string, Launch>): Text[] {
  const variables = new Map(scope.variables);
  for (const name of jobs.keys()) variables.set(name, plainText(`\ue002${name}`));
  return expandWords(words, { ...scope, variables });
}

const queueWords = /(?:^|[\s;&|(])(?:pueue\s+add|tsp?|sbatch)\s/;

/** Whether some command of a script gives commands to another queue. */
function holdsQueue(nodes: readonly ScriptNode[], text: string): boolean {
  return nodes.some((node) => {
    if (node.kind === 'for' || node.kind === 'count') return holdsQueue(node.body, text);
    if (node.kind !== 'simple') return queueWords.test(text.slice(node.start, node.end));
    const names = node.words.slice(0, 2).map((word) => plainText(literalText(word) ?? ''));
    const isAssigned = node.assignments.some(({ value }) => {
      const parts = Array.isArray(value) ? [] : (value as Word).parts;
      return parts.some((part) => part.kind === 'command' && /^\s*(?:pueue\s+add|tsp?|sbatch)\b/.test(part.source));
    });
    return isAssigned || isQueue(names);
  });
}
