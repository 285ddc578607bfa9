import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useMay } from './acts.ts';
import type { Address } from './api.ts';
import { saveCsv } from './csv.ts';
import { linkTo, type Query } from './routing.ts';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** A field of the row. A click on the title sorts the rows of this page by it. */
  readonly by?: keyof Row & string;
  readonly isNumber?: boolean;
  readonly isTime?: boolean;
  /** The column has long texts. It gets the width that the others leave, and a line of its own on a narrow screen. */
  readonly isWide?: boolean;
  /** Operations of which the column has buttons. The table omits the column if the operator's role allows none of them. */
  readonly needs?: readonly Address[];
}

interface TableProps<Row> {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** What stands instead of a table without rows. */
  readonly empty: ComponentChildren;
  /** False: the rows cannot be saved. */
  readonly hasCsv?: boolean;
}

interface SortOrder<Row> {
  readonly by: (keyof Row & string) | null;
  readonly isDown: boolean;
}

/**
 * Returns what stands instead of an empty list of `things`, the plural. `none` is the text if the list has no filter: what
 * the list will have, and what to do. Otherwise, a link shows the whole list.
 */
export function describeEmpty(
  parts: readonly string[],
  { before, back: _back, sort: _sort, ...filters }: Query,
  things: string,
  none: ComponentChildren,
): ComponentChildren {
  const isFiltered = Object.values(filters).some((value) => value !== undefined && value !== '');
  if (!isFiltered && before === undefined) return none;
  const found = isFiltered ? `No ${things} match the filter.` : `No more ${things}.`;
  return html`${found} <a href=${linkTo(parts)}>Show all ${things}</a>`;
}

/** A table, whose rows can be saved as a CSV file. On a narrow screen, each row is a block of cells with their titles. */
export function Table<Row extends { readonly id: string | number }>({
  caption,
  columns: all,
  rows,
  empty,
  hasCsv = true,
}: TableProps<Row>) {
  const [order, setOrder] = useState<SortOrder<Row>>({ by: null, isDown: false });
  const may = useMay();
  const columns = all.filter(({ needs }) => needs === undefined || needs.some(may));
  if (rows.length === 0) return html`<p class="empty">${empty}</p>`;
  const sorted = sortRows(rows, order);
  const head = (column: Column<Row>) =>
    html`<th scope="col" class=${classOf(column)} aria-sort=${describeOrder(column, order)}>
      ${showTitle(column, order, setOrder)}
    </th>`;
  const cellsOf = (row: Row) =>
    columns.map(
      (column) => html`<td class=${classOf(column)} data-title=${column.title}>${column.cell(row)}</td>`,
    );
  return html`<div class="scroll" role="group" aria-label=${caption} tabindex="0">
      <table>
        <caption class="unseen">${caption}</caption>
        <thead>
          <tr>${columns.map(head)}</tr>
        </thead>
        <tbody>
          ${sorted.map((row) => html`<tr key=${row.id}>${cellsOf(row)}</tr>`)}
        </tbody>
      </table>
    </div>
    ${hasCsv && html`<button type="button" class="csv" onClick=${() => saveCsv(caption, sorted)}>CSV of this page</button>`}`;
}

function classOf<Row>({ isNumber, isTime, isWide }: Column<Row>): string | undefined {
  const names = [isNumber && 'number', isTime && 'time', isWide && 'wide'];
  return names.filter(Boolean).join(' ') || undefined;
}

function showTitle<Row>(
  { title, by }: Column<Row>,
  order: SortOrder<Row>,
  setOrder: (order: SortOrder<Row>) => void,
) {
  if (by === undefined) return title;
  const next = { by, isDown: order.by === by && !order.isDown };
  return html`<button type="button" class="sort" onClick=${() => setOrder(next)}>${title}</button>`;
}

function describeOrder<Row>({ by }: Column<Row>, order: SortOrder<Row>): string | undefined {
  if (by === undefined || by !== order.by) return undefined;
  return order.isDown ? 'descending' : 'ascending';
}

/** Texts of digits, such as ids, are compared as numbers. */
const texts = new Intl.Collator('en', { numeric: true });

function sortRows<Row>(rows: readonly Row[], { by, isDown }: SortOrder<Row>): readonly Row[] {
  if (by === null) return rows;
  return rows.toSorted((one, other) => (isDown ? compare(other[by], one[by]) : compare(one[by], other[by])));
}

function compare(first: unknown, second: unknown): number {
  if (typeof first === 'number' && typeof second === 'number') return first - second;
  return texts.compare(String(first ?? ''), String(second ?? ''));
}
