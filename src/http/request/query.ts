import { parse } from 'node:querystring';
import type { TObject, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { AppError } from '../../errors.ts';
import { describeRule } from '../../schema.ts';
import { refuseUnknown } from './strict.ts';

const plainDecimal = /^(?:0|[1-9]\d{0,14})$/;

/** Reads the query of a request by its schema. Throws `invalid_parameter`. */
export type QueryReader = (text: string, isStrict: boolean) => unknown;

const none = {};

/**
 * Compiles the query parameters that a schema names. Each may be given once. A value is never coerced, but for a plain
 * decimal to the integer that it writes. Other parameters are ignored, unless the client asks for strict handling.
 */
export function compileQuery(schema: TObject): QueryReader {
  const names = Object.keys(schema.properties);
  const parameters = Object.entries<TSchema>(schema.properties).map(([name, property]) => ({
    name,
    isInteger: 'type' in property && property.type === 'integer',
    check: Compile(property),
    rule: describeRule(property),
  }));

  return (text, isStrict) => {
    if (text === '') return none;
    const given = parse(text, '&', '=', { maxKeys: 0 });
    if (isStrict) refuseUnknown('invalid_parameter', given, names);
    const query: Record<string, unknown> = {};
    const problems: string[] = [];
    for (const { name, isInteger, check, rule } of parameters) {
      const value = given[name];
      if (value === undefined) continue;
      query[name] =
        isInteger && typeof value === 'string' && plainDecimal.test(value) ? Number(value) : value;
      if (Array.isArray(value)) problems.push(`${name} must be given once`);
      else if (!check.Check(query[name])) problems.push(`${name} ${rule}`);
    }
    if (problems.length > 0) throw new AppError('invalid_parameter', problems.join('; '));
    return query;
  };
}
