import type { NamedWork, Value } from '../database.ts';
import type { Request, SentCall } from './messages.ts';
import { isAdding, type SqliteStatement } from './prepared.ts';

/** What one caller wants to be written. */
export type Task =
  | { readonly statement: SqliteStatement; readonly values: readonly Value[] }
  | { readonly work: NamedWork<never, unknown>; readonly input: unknown };

/** Makes requests of tasks. Each statement is sent once. */
export function createRequests(): (tasks: readonly Task[]) => Request {
  const numbers = new Map<SqliteStatement, number>();

  return (tasks) => {
    const newStatements: SqliteStatement[] = [];
    const calls: SentCall[] = [];

    function number(statement: SqliteStatement): number {
      const known = numbers.get(statement);
      if (known !== undefined) return known;
      numbers.set(statement, numbers.size);
      newStatements.push(statement);
      return numbers.size - 1;
    }

    function add(task: Task): void {
      if ('work' in task) {
        const { module, name } = task.work;
        calls.push({ module, name, input: task.input });
        return;
      }
      const statement = number(task.statement);
      const last = calls.at(-1);
      // What the same statement does for several tasks is one call: rows are added by many at once.
      if (last !== undefined && 'statement' in last && last.statement === statement && task.values.length > 0)
        last.values.push(...task.values);
      else calls.push({ statement, values: [...task.values] });
    }

    for (const task of tasks) add(task);
    return { newStatements, calls };
  };
}

/** The result of a task, as the thread sends it: of an added row only its id. */
export function toResult(task: Task, sent: unknown): unknown {
  return 'statement' in task && isAdding(task.statement) ? [{ id: sent }] : sent;
}
