import { ComparisonReader } from '../screens/compare/comparison-reader.js';
import { SweepOverviewReader } from '../screens/sweep/sweep-overview-reader.js';
import { sweepLines } from '../screens/sweep/sweep-screen-lines.js';
import type { SweepOverview } from '../screens/sweep/sweep-overview.js';
import type { History, Wanted } from '../model/history.js';
import type { FleetPort } from '../state/port.js';
import type { ListModel } from '../model/list-model.js';
import type { KeyContext } from './key-context.js';
import type { UiState } from '../state/ui-state.js';
import { compareExtent } from '../screens/compare/compare-screen-lines.js';
import type { Comparison } from '../screens/compare/comparison.js';
import type { XChoice } from '../widgets/chart/x-axis.js';

/** What the screens beside the list are put together from. */
export type ScreenSource = {
  readonly ui: UiState;
  readonly scene: ListModel;
  readonly fleet: FleetPort;
  readonly history: History;
  /** Unix ms. */
  readonly now: number;
};

/** Columns and lines between header and footer. */
type Room = { readonly width: number; readonly height: number };

/** What the compare screen and the sweep screen need: worked out only while one of them is shown. */
export class ScreenData {
  readonly #comparer = new ComparisonReader();
  readonly #surveyor = new SweepOverviewReader();

  comparison(source: ScreenSource): Comparison | null {
    const { screen } = source.ui;
    return screen.kind === 'compare' ? this.#comparer.comparison({ ...source, screen }) : null;
  }

  overview({ ui, scene, history, now }: ScreenSource): SweepOverview | null {
    return ui.screen.kind === 'sweep' ? this.#surveyor.overview(scene, history, now) : null;
  }

  /** The files to read; null: another screen is shown. */
  wanted(source: ScreenSource): Wanted | null {
    const { screen } = source.ui;
    if (screen.kind === 'sweep') return this.#surveyor.wanted(source.scene);
    return screen.kind === 'compare' ? this.#comparer.wanted({ ...source, screen }) : null;
  }

  /** What the x axis of the charts can be; null: another screen is shown. */
  xChoices(source: ScreenSource): readonly XChoice[] | null {
    const { screen } = source.ui;
    return screen.kind === 'compare' ? this.#comparer.xChoices({ ...source, screen }) : null;
  }

  /** What keys need to know of the screen. */
  situation(source: ScreenSource, room: Room): Partial<KeyContext> {
    const hasDialog = source.ui.dialog.kind !== 'none';
    const overview = hasDialog ? null : this.overview(source);
    if (overview !== null)
      return { screenLength: sweepLines(overview, room.width).length, page: Math.max(1, room.height - 1) };
    const comparison = this.comparison(source);
    if (comparison === null) return {};
    const { length, columns, page } = compareExtent(comparison, source.ui.compare.view, room);
    const { axes, chosenAxes, charts } = comparison;
    if (hasDialog) return { axes, chosenAxes, charts: charts.length };
    return { screenLength: length, screenColumns: columns, page, axes, chosenAxes, charts: charts.length };
  }
}
