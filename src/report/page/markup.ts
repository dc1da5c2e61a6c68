/** HTML that is safe to insert into a page. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = string | number | Markup | null | readonly Part[];

/** Builds markup from a template. Inserted parts are escaped unless they are markup themselves; null inserts nothing. */
export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return new Markup(texts.reduce((whole, text, index) => whole + textOf(parts[index - 1] ?? null) + text));
}

function textOf(part: Part): string {
  if (part === null) return '';
  if (part instanceof Markup) return part.text;
  return typeof part === 'object' ? part.map(textOf).join('') : escaped(String(part));
}

/** Escapes text for HTML and XML, also in attributes. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
}

/** A table that scrolls sideways if it is wider than the screen. @param head Cells. @param rows Whole rows. */
export function tableOf(head: readonly Markup[], rows: readonly Markup[], id: string | null = null): Markup {
  return html`<div class="scroll">
    <table ${id === null ? null : html`id="${id}"`}>
      <thead>
        <tr>
          ${head}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}
