import { type LogCommand } from './command.js';
import { type Obey, refuse } from './situation.js';

export const obeyLog: Record<LogCommand, Obey> = {
  'search-next': (ui) => refuse(ui, 'Open a run and search its log first.'),
  'search-previous': (ui) => refuse(ui, 'Open a run and search its log first.'),
  'first-error': (ui) => refuse(ui, 'Open a run first.'),
  wrap: (ui) => ({ ui: { ...ui, log: { ...ui.log, wraps: !ui.log.wraps } } }),
};
