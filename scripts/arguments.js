/** The arguments of the scripts of package.json. */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

/**
 * Reads the arguments of the script that runs. With `--help` it prints the comment at the script's head and ends; with an argument
 * that the script does not know it says so, prints that comment and ends with 2.
 *
 * @param options As `parseArgs` of Node has them. @param most Number of words beside the options.
 */
export function readArguments(options = {}, most = Infinity) {
  try {
    const found = parseArgs({ allowPositionals: true, options: { ...options, help: { type: 'boolean', short: 'h' } } });
    if (found.values.help) {
      console.log(usage());
      process.exit(0);
    }
    if (found.positionals.length > most) throw new Error(`Unexpected argument '${found.positionals[most]}'`);
    return found;
  } catch (error) {
    // The rest of Node's sentence is about words that begin with a minus.
    return refuse(error.message.split('. ')[0]);
  }
}

/** Whole numbers, of which each may be left out from the end. */
export function readNumbers(defaults) {
  const { positionals } = readArguments({}, defaults.length);
  const odd = positionals.find((word) => !/^\d+$/.test(word));
  return odd === undefined
    ? defaults.map((usual, at) => Number(positionals[at] ?? usual))
    : refuse(`'${odd}' is no whole number`);
}

function refuse(problem) {
  console.error(`${problem}.\n\n${usage()}`);
  process.exit(2);
}

function usage() {
  const [, head] = /\/\*\*\n?([^]*?)\*\//.exec(readFileSync(process.argv[1], 'utf8'));
  return head
    .split('\n')
    .map((line) => line.replace(/^ \* ?/, ''))
    .join('\n')
    .trim();
}
