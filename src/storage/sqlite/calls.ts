import type { Transaction, Value } from '../database.ts';
import type { Request, SentCall } from './messages.ts';
import { isAdding, type SqliteStatement } from './prepared.ts';

/** The write of one caller. */
export type Task =
  | { readonly statement: SqliteStatement; readonly values: readonly Value[] }
  | { readonly work: Transaction<never, unknown>; readonly input: unknown };

/** Creates the function that turns tasks into a request. It sends each statement to the thread only once. */
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
        calls.push({ name: task.work.name, input: task.input });
        return;
      }
      const statement = number(task.statement);
      const last = calls.at(-1);
      // Consecutive tasks with the same statement form one call, so that one insert can add many rows.
      if (last !== undefined && 'statement' in last && last.statement === statement && task.values.length > 0)
        last.values.push(...task.values);
      else calls.push({ statement, values: [...task.values] });
    }

    for (const task of tasks) add(task);
    return { newStatements, calls };
  };
}

/** Returns the result of a task. For an added row, the thread sends only the id. */
export function toResult(task: Task, sent: unknown): unknown {
  return 'statement' in task && isAdding(task.statement) ? [{ id: sent }] : sent;
}
