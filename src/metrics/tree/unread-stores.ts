import { closeSync, readSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { openRegular } from '../../files/regular-file.js';
import { shellQuote } from '../../text/shell-words.js';
import { SqliteFile } from '../binary/sqlite-file.js';
import { tablesOf } from '../binary/sqlite-table.js';
import type { Entries } from '../run-folders.js';

/**
 * A folder or a database in which another program keeps its runs in a form that is not read. `fix`: what to type, so that its curves are in files
 * which are read. `hasRows`: what lies there under the names of metrics is of the store.
 */
export type UnreadStore = {
  readonly writer: string;
  readonly path: string;
  readonly fix: string;
  readonly hasRows: boolean;
};

type StoreKind = {
  readonly writer: string;
  /** Name of the folder in which the writer puts its store by default; null: any. */
  readonly folder: string | null;
  /** Whether these are the entries of such a folder of another name. */
  readonly marks: (entries: Pick<Entries, 'files' | 'folders'>, path: string) => boolean;
  readonly fix: (path: string) => string;
  readonly hasRows?: true;
};

/** One point as a row of JSON, in Python. */
const row = (step: string, name: string, value: string) => `json.dumps({'step':${step},${name}:${value}})+'\\n'`;
/** A path in Python. */
const at = (path: string) => `pathlib.Path('${path.replaceAll(/[\\']/g, '\\$&')}')`;
const python = (script: string) => `python3 -c "${script.replaceAll(/["$`\\]/g, '\\$&')}"`;

/** What Ray Train keeps of the checkpoints of a run. */
const raySnapshot = 'checkpoint_manager_snapshot.json';

/** Of each line it was tried that it works, with aim 3.29, neptune 1.14, clearml 2.1, comet_ml 3.58, ray 2.60, traceml 1.5 and optuna 5.0. */
const kinds: readonly StoreKind[] = [
  {
    writer: 'Aim',
    folder: '.aim',
    marks: () => false,
    fix: (path) => {
      const name = "'/'.join([*map(str,m.context.to_dict().values()),m.name])";
      const points = `for m in r.metrics() for s,v in (lambda s,c:zip(s,c[0]))(*m.data.items_list())`;
      const writes = [
        "(d:=pathlib.Path('aim-runs',r.hash)).mkdir(parents=True,exist_ok=True)",
        "(d/'params.json').write_text(json.dumps(r.get('hparams',{}),default=str))",
        `(d/'metrics.jsonl').write_text(''.join(${row('s', name, 'v')} ${points}))`,
      ];
      const around = dirname(path);
      const runs = `for r in aim.Repo(str(${at(around)})).iter_runs()`;
      const reindex = `aim storage --repo ${shellQuote([around])} reindex -y`;
      return typed(`${reindex} && ${python(`import aim,json,pathlib;[(${writes.join(',')}) ${runs}]`)}`, 'aim-runs');
    },
  },
  {
    writer: 'neptune',
    folder: '.neptune',
    marks: () => false,
    fix: (path) => {
      const values = "(json.loads(l)['obj'] for l in open(f)) if o['type']=='LogFloats' for v in o['values']";
      const rows = `${row("v['step']", "'/'.join(o['path'])", "v['value']")} for o in ${values}`;
      const line = python(rewriting(path, 'data-*.log', 'metrics.jsonl', rows));
      return `${typed(line, path)}. Runs of neptune 3 (*.sqlite3) can only be sent to its server, with \`neptune sync\`.`;
    },
  },
  {
    writer: "ClearML's offline mode",
    folder: '.clearml',
    hasRows: true,
    marks: ({ files, folders }, path) =>
      [...files, ...folders].some((name) => /^offline-[0-9a-f]{32}(\.zip)?$/.test(name)) ||
      (files.includes('task.json') && files.includes('metrics.jsonl') && begins(join(path, 'metrics.jsonl'), '[{"')),
    fix: (path) => {
      const rows = `${row("e['iter']", "e['metric']+'/'+e['variant']", "e['value']")} for l in open(f) for e in json.loads(l) if 'value' in e`;
      const line = python(rewriting(path, 'metrics.jsonl', 'scalars/rows.jsonl', rows));
      return `${typed(line, path)}. A zip that is alone is unpacked before, into a folder of its own.`;
    },
  },
  {
    writer: "Comet's offline mode",
    folder: '.cometml-runs',
    marks: ({ files }, path) => {
      const archive = files.find((name) => /^[0-9a-f]{32}\.zip$/.test(name));
      return archive !== undefined && begins(join(path, archive), 'experiment.json');
    },
    fix: (path) => {
      const messages = "(json.loads(l)['payload'].get('metric') for l in zipfile.ZipFile(z).open('messages.json'))";
      const rows = `${row("m['step']", "m['metricName']", "m['metricValue']")} for m in ${messages} if m and m['step'] is not None`;
      const folder = "(d:=z.with_suffix('')).mkdir(exist_ok=True)";
      const writes = `${folder},(d/'metrics.jsonl').write_text(''.join(${rows}))`;
      return typed(python(`import json,pathlib,zipfile;[(${writes}) for z in ${at(path)}.glob('*.zip')]`), path);
    },
  },
  {
    // Its metrics are kept with checkpoints alone; Ray Tune writes files that are read.
    writer: 'Ray Train',
    folder: null,
    marks: ({ files }) =>
      files.includes(raySnapshot) && !['progress.csv', 'result.json'].some((name) => files.includes(name)),
    fix: (path) => {
      const write = "ray.train.Result.from_path(str(f.parent)).metrics_dataframe.to_csv(f.with_name('progress.csv'))";
      return typed(python(`import pathlib,ray.train;[${write} for f in ${at(path)}.rglob('${raySnapshot}')]`), path);
    },
  },
  {
    writer: "Polyaxon's offline mode",
    folder: null,
    marks: ({ files, folders }) => files.includes('run.plx.json') && folders.includes('events'),
    fix: (path) => {
      const text = "f.read_text().replace('|metric','|'+f.stem,1).replace('|',',')";
      const write = `f.with_suffix('.csv').write_text(${text})`;
      return typed(python(`import pathlib;[${write} for f in ${at(path)}.rglob('events/metric/*.plx')]`), path);
    },
  },
  {
    writer: 'SwanLab',
    folder: 'swanlog',
    marks: ({ files }) => files.some((name) => /^run-.*\.swanlab$/.test(name)),
    fix: (path) =>
      `SwanLab has no export of its files: \`swanlab sync ${shellQuote([path])}/run-…\` sends them to its server, whose charts can be saved as CSV.`,
  },
];

/** A database of Optuna with its studies, whose trials are no runs but may have reported values; null: the database is none. */
export function unreadDatabase(path: string): UnreadStore | null {
  const read = new SqliteFile(path).read((pages) => {
    const tables = tablesOf(pages);
    return tables.has('studies') && tables.has('trial_intermediate_values');
  });
  if (read.is !== 'read' || !read.value) return null;
  const storage = `'sqlite:///'+str(${at(path)})`;
  const values = 'for i,v in enumerate(t.values or [])';
  const rows = [
    `*(${row('s', "'reported'", 'v')} for s,v in sorted(t.intermediate_values.items()))`,
    `*(${row('max(t.intermediate_values,default=0)', "'value'+str(i or '')", 'v')} ${values})`,
  ];
  const writes = [
    "(d:=pathlib.Path('optuna-trials',n,str(t.number))).mkdir(parents=True,exist_ok=True)",
    "(d/'params.json').write_text(json.dumps(t.params,default=str))",
    `(d/'metrics.jsonl').write_text(''.join([${rows.join(',')}]))`,
  ];
  const trials = `for n in optuna.get_all_study_names(${storage}) for t in optuna.load_study(study_name=n,storage=${storage}).trials`;
  const line = python(`import json,optuna,pathlib;[(${writes.join(',')}) ${trials}]`);
  return { writer: 'Optuna', path, fix: typed(line, 'optuna-trials'), hasRows: false };
}

/** Number of bytes in which the name of the first file of a zip lies. */
const BEGINNING = 64;

function begins(path: string, text: string): boolean {
  const opened = openRegular(path);
  if (opened.kind !== 'file') return false;
  try {
    const bytes = Buffer.alloc(BEGINNING);
    return bytes.toString('latin1', 0, readSync(opened.descriptor, bytes, 0, BEGINNING, 0)).includes(text);
  } catch {
    return false;
  } finally {
    closeSync(opened.descriptor);
  }
}

/** Python that writes rows into a file beside each one of a name. */
function rewriting(path: string, from: string, to: string, rows: string): string {
  const writes = `(t:=f.parent/'${to}').parent.mkdir(exist_ok=True),t.write_text(''.join(${rows}))`;
  return `import json,pathlib;[(${writes}) for f in ${at(path)}.rglob('${from}')]`;
}

function typed(line: string, result: string): string {
  return `${line}\n\n  Then look at what it has written: memrl-tui view ${shellQuote([result])}`;
}

/** The stores in a folder, or the one that it is itself. @param path Path of the folder. */
export function unreadStores(entries: Pick<Entries, 'files' | 'folders'>, path: string): UnreadStore[] {
  return kinds.flatMap(({ writer, folder, marks, fix, hasRows = false }) => {
    const isItself = basename(path) === folder || marks(entries, path);
    const inner = folder !== null && entries.folders.includes(folder) ? join(path, folder) : null;
    const store = isItself ? path : inner;
    return store === null ? [] : [{ writer, path: store, fix: fix(store), hasRows }];
  });
}

export function unreadWords({ writer, path }: UnreadStore): string {
  return `runs of ${writer} in ${basename(path)} are not read`;
}
