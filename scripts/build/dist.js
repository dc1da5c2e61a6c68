import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** What a build is made of. */
const sources = ['src', 'scripts/build', 'scripts/build.js', 'scripts/lean-ink.js', 'scripts/program-options.js'];
const packages = ['package.json', 'package-lock.json', 'node_modules/.package-lock.json'];
/** What the build writes beside the sources, for the tests. */
const made = /\.wasm$|kernel-thread\.js$/;
/** Files of the build before are kept as long as a command may need that began with them, ms. What lives longer keeps its parts. */
const KEPT_MS = 3_600_000;

/** Where programs look for the code that V8 has compiled of their parts: beside `dist/`, as it is for this Node alone. */
export function compiledFolder(dist) {
  return join(dist, '../compiled');
}

/** Tells one build from another: of all sources, the packages, and the options. */
export function sourcesHash(root, options) {
  const hash = createHash('sha256').update(JSON.stringify(options));
  const files = sources.flatMap((name) => filesIn(join(root, name)));
  for (const file of [...files.filter((name) => !made.test(name)), ...packages.map((name) => join(root, name))]) {
    if (existsSync(file))
      hash
        .update(`${file.slice(root.length)}\0`)
        .update(readFileSync(file))
        .update('\0');
  }
  return hash.digest('hex');
}

/** The folder `dist/`, into which one build is written while others may be running what is there. */
export class Dist {
  /** @param hash Of the sources of this build. */
  constructor(root, hash) {
    this.folder = join(root, 'dist');
    this.hash = hash;
    this.files = [];
    this.drafts = 0;
  }

  /** Whether all files are of these sources. */
  isBuilt() {
    const { hash, files } = this.#last();
    return hash === this.hash && files.every((name) => existsSync(join(this.folder, name)));
  }

  /** Adds a file, or replaces it at once. `name`: its path in the folder. */
  write({ name, content, mode = 0o644 }) {
    this.#place(name, (draft) => writeFileSync(draft, content, { mode }));
    this.files.push(name);
  }

  /** The build is complete. */
  finish() {
    const before = this.#last().files.filter((name) => !this.files.includes(name));
    const now = new Date();
    for (const name of before) if (existsSync(join(this.folder, name))) utimesSync(join(this.folder, name), now, now);
    this.#place('build.json', (draft) => writeFileSync(draft, JSON.stringify({ hash: this.hash, files: this.files })));
  }

  /** Deletes what older builds have left long ago, and keeps the rest out of the package. */
  sweep() {
    const files = new Set(this.#last().files);
    const isOurs = (name) => /^(build\.json|\.npmignore)$/.test(name);
    const isTool = (name) => /^(bench|faults|fuzz)-/.test(name);
    const isOld = (name) => Date.now() - statSync(join(this.folder, name)).mtimeMs > KEPT_MS;
    const names = filesIn(this.folder).map((path) => path.slice(this.folder.length + 1));
    const others = names.filter((name) => !files.has(name) && !isOurs(name));
    for (const name of others) if (!isTool(name) && isOld(name)) rmSync(join(this.folder, name), { force: true });
    this.#place('.npmignore', (draft) => writeFileSync(draft, others.map((name) => `/${name}\n`).join('')));
    this.#sweepCompiled(files);
  }

  /** Compiled code has the name of its part. */
  #sweepCompiled(files) {
    for (const path of filesIn(compiledFolder(this.folder))) {
      const name = basename(path);
      if (name !== 'hash' && !files.has(`parts/${name}.cjs`)) rmSync(path, { force: true });
    }
  }

  #last() {
    try {
      return JSON.parse(readFileSync(join(this.folder, 'build.json'), 'utf8'));
    } catch {
      return { hash: null, files: [] };
    }
  }

  #place(name, make) {
    const path = join(this.folder, name);
    const draft = `${path}.${process.pid}-${++this.drafts}.tmp`;
    mkdirSync(dirname(path), { recursive: true });
    make(draft);
    renameSync(draft, path);
  }
}

function filesIn(path) {
  if (!existsSync(path)) return [];
  if (statSync(path).isFile()) return [path];
  const entries = readdirSync(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort();
}
