/**
 * How a program finds its parts, and the code that V8 has made of them before.
 *
 * A program is a small file and the parts that it shares with others (`scripts/build/programs.js`). For the version of Node that
 * built them there is compiled code, too: without it half of a short command is spent on compiling. Code that V8 does not accept,
 * as Node was started with other flags, or that cannot be read, is left alone; other versions of Node keep a cache of their own.
 */
import type { Script as VmScript } from 'node:vm';
import { lentImport } from '../base/import-module.js';

// To import them costs 15 ms, as that makes a module of each, and loads whatever else one of its exports needs.
const { readFileSync, renameSync, writeFileSync, readFile } = process.getBuiltinModule('node:fs');
const { Module } = process.getBuiltinModule('node:module');
const path = process.getBuiltinModule('node:path');
const { constants, Script } = process.getBuiltinModule('node:vm');

export type Program = {
  readonly name: string;
  /** The folder of the parts. */
  readonly folder: string;
  /** The part that the program begins with. */
  readonly first: string;
  /** All parts that the program may ever load. */
  readonly parts: readonly string[];
};

type Exports = Record<string, unknown>;
/** What a part sees as `module`. */
type Part = { exports: Exports; part: (name: string) => Exports };
type Wrapped = (...given: readonly [Exports, NodeJS.Require, Part, file: string, folder: string]) => void;
/** Node's own way of compiling a module from text. */
type NodeModule = Part & { _compile: (text: string, file: string) => void };

/** A program that lives longer reads all of its parts, ms: a newer build takes them away. */
const SHORT_LIFE_MS = 1000;
/** For the build, which has made the folders: compiled code is written at the end of the program; `new`: only of further parts. */
const WRITES_CODE = 'MEMRL_WRITE_COMPILED';

/** Loads the first part of a program, which runs it. */
export function startProgram(program: Program): void {
  const parts = new ProgramParts(program);
  setTimeout(() => parts.keep(), SHORT_LIFE_MS).unref();
  Object.assign(globalThis, { [lentImport]: (name: string): Promise<unknown> => import(name) });
  parts.load(program.first);
}

export class ProgramParts {
  readonly #program: Program;
  readonly #loaded = new Map<string, Part>();
  readonly #kept = new Map<string, string>();
  readonly #scripts = new Map<string, VmScript>();
  readonly #codeFolder: string;
  readonly #hasCode: boolean;

  constructor(program: Program) {
    this.#program = program;
    this.#codeFolder = codeFolder(program);
    const writes = process.env[WRITES_CODE] !== undefined;
    this.#hasCode = writes || this.#codeOf(program.first) !== undefined;
    if (!this.#hasCode) (Module as { enableCompileCache?: () => void }).enableCompileCache?.();
    if (!writes) return;
    // A thread hears nothing of the end of its process.
    const { isMainThread } = process.getBuiltinModule('node:worker_threads');
    if (isMainThread) process.on('exit', () => this.#writeCode());
    else setTimeout(() => this.#writeCode(), SHORT_LIFE_MS);
  }

  /** The exports of a part, which runs when it is first asked for. */
  load(name: string): Exports {
    const known = this.#loaded.get(name);
    if (known !== undefined) return known.exports;
    const file = path.join(this.#program.folder, `${name}.cjs`);
    const text = this.#kept.get(name) ?? readFileSync(file, 'latin1');
    const part = this.#hasCode ? { exports: {} } : new Module(file);
    const module = Object.assign(part as Part, { part: (other: string) => this.load(other) });
    this.#loaded.set(name, module);
    if (this.#hasCode) this.#run(name, text, module);
    else (module as NodeModule)._compile(text, file);
    this.#kept.delete(name);
    return module.exports;
  }

  /** Reads the parts that were not needed so far. */
  keep(): void {
    for (const name of this.#program.parts.filter((each) => !this.isKept(each))) {
      readFile(path.join(this.#program.folder, `${name}.cjs`), 'latin1', (error, text) => {
        if (error === null && !this.#loaded.has(name)) this.#kept.set(name, text);
      });
    }
  }

  /** Whether the program can do without the file of a part. */
  isKept(name: string): boolean {
    return this.#loaded.has(name) || this.#kept.has(name);
  }

  #run(name: string, text: string, module: Part): void {
    const { folder } = this.#program;
    const file = path.join(folder, `${name}.cjs`);
    const script = new Script(`(function(exports,require,module,__filename,__dirname){${text}\n})`, {
      filename: file,
      cachedData: this.#codeOf(name),
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
    this.#scripts.set(name, script);
    const run = script.runInThisContext() as Wrapped;
    run(module.exports, Module.createRequire(file), module, file, folder);
  }

  #codeOf(name: string): Buffer | undefined {
    try {
      return readFileSync(path.join(this.#codeFolder, name));
    } catch {
      return undefined;
    }
  }

  #writeCode(): void {
    const isKept = process.env[WRITES_CODE] === 'new';
    for (const [name, script] of this.#scripts) {
      if (isKept && this.#codeOf(name) !== undefined) continue;
      const draft = path.join(this.#codeFolder, `${name}.${process.pid}.tmp`);
      writeFileSync(draft, script.createCachedData());
      renameSync(draft, path.join(this.#codeFolder, name));
    }
  }
}

/** Each program has compiled code of its own, as each needs other functions of a part, and is started with other flags. */
function codeFolder({ name, folder }: Program): string {
  return path.join(folder, '../../compiled', `${process.version}-${process.arch}`, name);
}
