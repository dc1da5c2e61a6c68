import { dirname, join } from 'node:path';
import { statRegular } from '../../files/regular-file.js';
import { valueOf } from './csv.js';
import { isNot, type Recognition } from './format.js';
import { lineFormat, type LineParser } from './line-format.js';

const TIME = 'time';
/** Folder of a run in which MLflow keeps its metrics. */
const FOLDER = 'metrics';

/**
 * MLflow's file store: a file `metrics/NAME` for each metric of a run, with `TIME VALUE STEP` on each line (time: Unix ms). A metric
 * with a slash in its name lies in a folder. The files of one run are one source.
 */
export const mlflow = lineFormat({
  name: 'MLflow',
  looksFor: `${FOLDER}/* of MLflow's file store`,
  filing: 'points',
  recognise: ({ path, place, head }) => recogniseMetric(path, place, head),
  parser: (path) => pointParser(metricIn(path)),
  order: 'metrics',
  timeKey: TIME,
});

const line = /^(\d{10,}) (\S+)(?: (-?\d+))?$/;

function recogniseMetric(path: string, place: string, head: () => readonly string[] | null): Recognition {
  if (!place.split('/').slice(0, -1).includes(FOLDER)) return isNot;
  const store = storeOf(path);
  if (statRegular(join(store, 'meta.yaml')).kind !== 'file') return isNot;
  const lines = head();
  if (lines === null) return { is: 'maybe', why: 'it has no whole line yet' };
  const isOne = lines[0] !== undefined && line.test(lines[0]);
  return isOne ? { is: 'yes', why: 'it lies in the metrics of a run of MLflow', source: store } : isNot;
}

/** Folder of the run that a file of metrics belongs to. */
function storeOf(path: string): string {
  return path.slice(0, placeOfFolder(path));
}

function metricIn(path: string): string {
  return path.slice(placeOfFolder(path) + FOLDER.length + 2);
}

/** The first folder of the name beside a `meta.yaml`: a metric may be called `metrics/loss`. */
function placeOfFolder(path: string): number {
  const inside = `/${FOLDER}/`;
  for (let at = path.indexOf(inside); at >= 0; at = path.indexOf(inside, at + 1))
    if (statRegular(join(path.slice(0, at), 'meta.yaml')).kind === 'file') return at;
  return dirname(path).length - FOLDER.length - 1;
}

function pointParser(metric: string): LineParser {
  return (text) => {
    const [, time, value, step = '0'] = line.exec(text) ?? [];
    if (time === undefined) return null;
    return { step: Number(step), [TIME]: Number(time), [metric]: valueOf(value!) };
  };
}
