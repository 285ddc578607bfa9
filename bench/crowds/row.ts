import type { Figure } from './figures.ts';
import type { Ground } from './ground.ts';

/** Reports what some clients saw, as progress. */
export type Note = (who: string, seen: unknown) => void;

/** A crowd, and what it may cost the others. */
export interface Row {
  readonly name: string;
  readonly title: string;
  readonly engine: 'SQLite' | 'PostgreSQL';
  /** Measures one round. */
  measure(ground: Ground, note: Note): Promise<Figure[]>;
}
