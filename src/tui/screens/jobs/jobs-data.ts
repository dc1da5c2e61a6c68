import { wantedFor } from '../../model/detail.js';
import type { ScreenData, ScreenEntry } from '../screen.js';
import { listBoundary, listPage } from './layout.js';
import { jobsKeys } from './keys.js';

/** The list of runs with the details of the selection. */
export const jobs: ScreenEntry<'jobs', null> = {
  ...{ name: 'list', keys: jobsKeys, data: jobsData },
  component: () => import('./jobs-screen.js').then(({ JobsScreen }) => JobsScreen),
};

/** Number of log lines beside the list. */
export const logLines = 200;

/** The list has no data of its own beyond the window's. */
function jobsData(): ScreenData<'jobs', null> {
  return {
    wanted: ({ node, listModel }) => wantedFor(node, listModel, logLines),
    read: () => null,
    context: ({ body, isSmall, listModel, ui }) => {
      const content = { isSmall, rows: listModel.rows.length, wanted: ui.panes.list };
      return { page: listPage(body, content), boundary: listBoundary(body, content) };
    },
  };
}
