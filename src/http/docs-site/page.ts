import type { Markup } from './markup.ts';

/** A page of the documentation, without the shared frame. */
export interface Page {
  /** Its address below `/docs`: empty for the first page, `errors`, `reference/list-pets`. */
  readonly path: string;
  readonly title: string;
  readonly content: Markup;
}

/**
 * The relative path from a page to `/`. All addresses on a page are relative, so that it works below a proxy's prefix.
 */
export function findRoot(path: string): string {
  return path === '' ? '.' : Array(path.split('/').length).fill('..').join('/');
}
