import { basename } from 'node:path';
import { valueOf } from './csv.js';
import { isNot } from './format.js';
import { lineFormat, type LineParser } from './line-format.js';

/** `epoch,step,value` on each line, without a row of names: d3rlpy writes a file for each metric, named after it. */
export const d3rlpyCsv = lineFormat({
  name: 'd3rlpy',
  looksFor: '*.csv of d3rlpy: epoch, step and value on each line',
  isNamed: (name) => name.endsWith('.csv') && name !== '.csv',
  recognise: ({ head }) => {
    const lines = head();
    const isOne = lines !== null && lines.length > 0 && lines.every((line) => triple.test(line));
    return isOne ? { is: 'yes', why: 'it has an epoch, a step and a value on each line, and no names' } : isNot;
  },
  parser: (path) => tripleParser(basename(path, '.csv')),
});

const triple = /^(\d+),(\d+),([-+]?(?:[\d.]+(?:e[-+]?\d+)?|nan|inf))$/;

function tripleParser(metric: string): LineParser {
  return (line) => {
    const [, epoch, step, value] = triple.exec(line) ?? [];
    return step === undefined ? null : { step: Number(step), epoch: Number(epoch), [metric]: valueOf(value!) };
  };
}
