/** The program `memrl-tui`: reads the command line, calls one verb, prints errors, sets the exit code. */
import { Command, CommanderError } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { wholeNumber, type LaunchOptions } from './options.js';
import { reportError } from './report-error.js';

const runs = ['--runs <dir>', 'folder that holds the sweeps (default: ./runs)'] as const;

const program = new Command('memrl-tui')
  .description('Turns a sweep file into training runs, keeps them alive, and shows them.')
  .version(packageJson.version)
  .enablePositionalOptions()
  .exitOverride()
  .configureHelp({ helpWidth: 100 })
  .argument('[file]', 'sweep file (YAML), or a text file with one command on each line')
  .option('--dry-run', 'show the plan; start nothing, write nothing')
  .option('--json', 'with --dry-run: the plan as one JSON object')
  .option('--verbose', 'with --dry-run: the command of every run')
  .option('--sweep <groups...>', 'only these groups, and what they need')
  .option('--set <name=value>', 'override a parameter or key (`n_batches=500`, `A.N=64`); may be repeated', collect)
  .option('--gpus <list>', 'GPUs to use, for example 0,1; or none')
  .option('--per-gpu <n>', 'runs that share one GPU', wholeNumber('--per-gpu', 1))
  .option('--slots <n>', 'runs at a time on the CPU (default: cores)', wholeNumber('--slots', 1))
  .option(...runs)
  .option('--detach', 'launch and return at once')
  .option('--plain', 'one line per event instead of the window')
  .option('--ascii', 'draw with plain ASCII characters')
  .action(async (file: string | undefined, options: LaunchOptions) => {
    if (file === undefined) return program.help();
    const { launch } = await import('./verbs/launch.js');
    await exitWith(launch(file, options));
  });

program
  .command('attach')
  .description('open the control window on sweeps that were launched before')
  .argument('[sweep]', 'only this sweep')
  .option(...runs)
  .option('--plain', 'one line per event instead of the window')
  .option('--ascii', 'draw with plain ASCII characters')
  .action(async (sweep: string | undefined, options: LaunchOptions) => {
    const { attach } = await import('./verbs/attach.js');
    await exitWith(attach(sweep, options));
  });

program
  .command('status')
  .description('where each run is')
  .argument('[sweep]', 'only this sweep')
  .option(...runs)
  .option('--json', 'as one JSON object')
  .action(async (sweep: string | undefined, options: LaunchOptions) => {
    const { status } = await import('./verbs/status.js');
    await exitWith(status(sweep, options));
  });

program
  .command('report')
  .description('the table a sweep comes to')
  .argument('<sweep>', 'name of the sweep')
  .option(...runs)
  .option('--json', 'as one JSON object')
  .option('--ascii', 'draw with plain ASCII characters')
  .action(async (sweep: string, options: LaunchOptions) => {
    const { report } = await import('./verbs/report.js');
    await exitWith(report(sweep, options));
  });

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    // Commander has already said what is wrong, and suggested the nearest option.
    process.exitCode = error.exitCode === 0 ? 0 : 2;
  } else {
    const { text, exitCode } = reportError(error);
    process.stderr.write(`${text}\n`);
    process.exitCode = exitCode;
  }
}

function collect(value: string, earlier: string[] | undefined): string[] {
  return [...(earlier ?? []), value];
}

/** Sets the exit code and lets output drain; nothing may keep the program alive after its verb has ended. */
async function exitWith(verb: Promise<number>): Promise<void> {
  process.exitCode = await verb;
}
