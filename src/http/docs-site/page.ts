import type { Markup } from './markup.ts';

/** A page of the documentation, without the shared frame. */
export interface Page {
  /** Path below `/docs`, such as `errors` or `reference/list-pets`. Empty for the first page. */
  readonly path: string;
  readonly title: string;
  readonly content: Markup;
}

/**
 * Returns the relative path from a page to `/`. All links on a page are relative, so that the page also works if a
 * proxy adds a path prefix.
 */
export function findRoot(path: string): string {
  return path === '' ? '.' : Array(path.split('/').length).fill('..').join('/');
}
