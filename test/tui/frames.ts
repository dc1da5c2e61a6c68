import { Controller } from '../../src/tui/app/controller.js';
import type { RunFilesPort } from '../../src/tui/state/port.js';
import type { SummaryPort } from '../../src/tui/state/summary-port.js';
import { plainText } from '../../src/tui/widgets/span.js';
import type { SimulatedFleet } from './simulated-fleet.js';

/** A controller on a simulated fleet, with the clock standing still. */
export function aController(
  { fleet, files, now }: { fleet: SimulatedFleet; files: RunFilesPort; now: number },
  options: { sweep?: string | null; summary?: SummaryPort; orders?: string[] } = {},
): Controller {
  const perform = ({ type }: { type: string }): void => void options.orders?.push(type);
  const ports = { fleet, files, now: () => now, summary: options.summary, perform };
  return new Controller(ports, options.sweep === undefined ? 'abcd' : options.sweep);
}

/** The screen as text. */
export function screenText(controller: Controller): string[] {
  return controller.frame().map((line) => plainText(line).trimEnd());
}
