import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { build, transform } from 'esbuild';
import ts from 'typescript';
import { programOptions } from '../program-options.js';
import { programParts } from './program-parts.js';
import { lean } from './lean.js';

const commands = { 'memrl-tui': 'src/cli/main.ts', memrl: 'src/lab/main.ts' };
const programs = {
  ...commands,
  supervisor: 'src/supervisor/main.ts',
  'reader-thread': 'src/supervisor/reading/reader-thread.ts',
  'compute-thread': 'src/lab/tinker/server/compute-thread.ts',
  'wandb-server': 'src/wandb/main.ts',
  'slurm-worker': 'src/executors/slurm/packs/pack-worker.ts',
};

export const programNames = Object.keys(programs);

/**
 * The programs: small files that find their parts (`src/start/`), and the parts, which they share.
 *
 * Parts are scripts rather than modules, as V8's compiled code can be kept of scripts alone (in Node 20). A part has the hash of its
 * text in its name.
 */
export async function bundlePrograms(root) {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: programs,
    outdir: join(root, 'dist/parts'),
    splitting: true,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    metafile: true,
    write: false,
    legalComments: 'none',
    ...programOptions,
    banner: {},
    plugins: [...programOptions.plugins, programParts, lean],
    logLevel: 'warning',
  });
  const parts = await Promise.all(outputFiles.map(({ path, text }) => partOf(nameOf(path), text)));
  const launchers = await Promise.all(programNames.map((name) => launcherOf(root, name, metafile)));
  return { parts, launchers: [...launchers, ...Object.keys(commands).map(commandOf)] };
}

/** What a run finds by name, however memrl-tui itself was started. No link, as npm packs none. */
function commandOf(name) {
  return { name: `bin/${name}`, content: `#!/bin/sh\nexec node "\${0%/*}/../${name}.js" "$@"\n`, mode: 0o755 };
}

/** A part as a script. It gets other parts from `module.part`, and takes its place for that of a file of `dist`, as do the sources. */
async function partOf(name, text) {
  const { code } = await transform(inAscii(text), {
    format: 'cjs',
    target: programOptions.target,
    minifyWhitespace: true,
    minifySyntax: true,
    define: { 'import.meta.url': '__programUrl' },
  });
  const url =
    'var __programUrl=require("node:url").pathToFileURL(require("node:path").join(__dirname,"../build.json")).href;';
  const script = code
    .replaceAll(/\brequire\("\.\/([\w.-]+)\.js"\)/g, 'module.part("$1")')
    .replaceAll(/\bimport\("\.\/([\w.-]+)\.js"\)/g, 'Promise.resolve().then(()=>module.part("$1"))');
  const placed = script.includes('__programUrl') ? script.replace(/^("use strict";)?/, `$1${url}`) : script;
  return { name: `parts/${name}.cjs`, content: withLazyBuiltins(placed) };
}

/** Loads modules of Node when they are first used: to load those for networks, cryptography and child processes costs 20 ms. */
function withLazyBuiltins(script) {
  const required = /\b(import_node_\w+)=((?:__toESM\()?require\("node:[\w/]+"\)(?:,1\))?\)?)(?=[,;])/g;
  const names = [...script.matchAll(required)].map(([, name]) => name);
  if (names.length === 0) return script;
  const lazy = script.replaceAll(required, '$1=__lazy(()=>$2)');
  const called = names.reduce(
    (text, name) => text.replaceAll(new RegExp(`\\b${name}\\b(?=[.\\[])`, 'g'), `${name}.m`),
    lazy,
  );
  return called.replace(
    /^("use strict";)?/,
    '$1var __lazy=load=>{let loaded;return{get m(){return loaded??=load()}}};',
  );
}

async function launcherOf(root, name, { outputs }) {
  const [first] = Object.entries(outputs).find(
    ([, { entryPoint }]) => entryPoint === programs[name] || entryPoint === `part:${join(root, programs[name])}`,
  );
  const program = { name, first: nameOf(first), parts: reachable(first, outputs).map(nameOf) };
  const { outputFiles } = await build({
    absWorkingDir: root,
    stdin: { contents: launcher(root, name, program), resolveDir: root },
    write: false,
    ...programOptions,
    banner: { js: '#!/usr/bin/env node' },
    logLevel: 'warning',
  });
  return { name: `${name}.js`, content: outputFiles[0].text, mode: 0o755 };
}

/** The version is said before anything is loaded. */
function launcher(root, name, program) {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const start = `startProgram({ ...${JSON.stringify(program)}, folder: import.meta.dirname + '/parts' })`;
  const isAsked = `process.argv.length === 3 && ['--version', '-V'].includes(process.argv[2])`;
  const begin = name === 'memrl-tui' ? `if (${isAsked}) process.stdout.write('${version}\\n'); else ${start};` : start;
  return `import { startProgram } from './src/start/program-parts.ts'; ${begin}`;
}

/** The outputs that a program may ever load. */
function reachable(first, outputs) {
  const found = new Set([first]);
  for (const each of found) for (const { path, external } of outputs[each].imports) if (!external) found.add(path);
  return [...found];
}

/** `memrl-tui/lab`: what a person's own modules are written against, and its types. */
export async function bundleLibrary(root) {
  const entry = join(root, 'src/lab/library.ts');
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: { lab: entry },
    // The engine is a part of its own, which is loaded when a script opens a model.
    splitting: true,
    outdir: join(root, 'dist'),
    chunkNames: 'lab-[name]-[hash]',
    write: false,
    ...programOptions,
  });
  const folder = mkdtempSync(join(tmpdir(), 'memrl-types-'));
  const types = { declaration: true, emitDeclarationOnly: true, outDir: folder, rootDir: join(root, 'src') };
  const compiler = { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2023, strict: true, types: ['node'] };
  ts.createProgram([entry], { ...types, ...compiler, skipLibCheck: true }).emit();
  const files = declarations(folder, 'lab/library.d.ts').map((name) => {
    return { name: `types/${name}`, content: readFileSync(join(folder, name)) };
  });
  rmSync(folder, { recursive: true });
  return [...outputFiles.map(({ path, text }) => ({ name: basename(path), content: text })), ...files];
}

/** The declarations that a file of a folder needs, itself among them. */
function declarations(folder, first) {
  const found = new Set([first]);
  for (const name of found) {
    const text = readFileSync(join(folder, name), 'utf8');
    for (const [, path] of text.matchAll(/\bfrom '(\.[^']+)\.js'/g)) found.add(join(dirname(name), `${path}.d.ts`));
  }
  return [...found];
}

function nameOf(path) {
  return basename(path, '.js');
}

/**
 * The same program in ASCII, of which V8 keeps one byte per character instead of two. The bundler leaves other characters in regular
 * expressions and in tagged templates; the only tag here that reads its texts unprocessed is `String.raw`, for regular expressions.
 */
function inAscii(text) {
  return text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
