import { setImmediate as turn } from 'node:timers/promises';
import type { Fleet } from '../client/fleet.js';
import { PreferencesFile, preferencesPath } from '../files/preferences.js';
import { openWindow } from '../tui/app/open-window.js';
import { preferencesIn } from '../tui/app/preferences.js';
import type { SummaryPort } from '../tui/state/port.js';
import { LazyEditor } from './editor/lazy-editor.js';
import { readOnlyEditor } from './editor/read-only-editor.js';
import type { Launched } from './editor/sweep-source.js';
import type { LaunchOptions } from './options.js';
import { own } from './ports.js';
import type { readReport } from './print-report.js';
import { terminalStreams } from './terminal.js';

/** `note`: what the window says first; null: nothing. */
type Opening = { readonly note: string | null; readonly onReady: () => void };

/** Shows a sweep in the window; null: all sweeps of the supervisor. @returns How the window was left. */
export function showSweep(fleet: Fleet, sweep: string | null, launched: Launched & Opening) {
  const { options, note } = launched;
  const lazy = new LazyEditor(fleet, launched);
  return openWindow({
    ...windowHost(options),
    fleet,
    editor: options.readOnly === true ? readOnlyEditor(lazy) : lazy,
    onReady: () => {
      lazy.load();
      launched.onReady();
    },
    summary: (name) =>
      sweepSummary((report) =>
        report.readReport(name, { ...options, hasAnswers: false }, { fleet, pause: () => turn() }),
      ),
    ...(sweep === null ? {} : { sweep }),
    ...(note === null ? {} : { note }),
  });
}

/** The terminal, environment and preferences of a window. */
export function windowHost({ ascii }: Pick<LaunchOptions, 'ascii'>) {
  const preferences = preferencesIn(new PreferencesFile(preferencesPath(own().env)));
  return { ...terminalStreams(), environment: own().env, ascii, preferences };
}

type ReportPrinter = { readonly readReport: typeof readReport };

/** The summary table of a sweep, for the window: worked out between its keys and frames. @param read Lays it out anew. */
export function sweepSummary(read: (report: ReportPrinter) => ReturnType<ReportPrinter['readReport']>): SummaryPort {
  let refreshing: Promise<void> | null = null;
  const summary = {
    lines: null as SummaryPort['lines'],
    refresh: () => (refreshing ??= readAgain().finally(() => (refreshing = null))),
  };
  const readAgain = async () => {
    summary.lines = await read(await import('./print-report.js'));
  };
  return summary;
}
