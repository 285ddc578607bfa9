import type { TObject, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { AppError } from '../errors.ts';
import type { Check } from './validation.ts';

const plainDecimal = /^(?:0|[1-9]\d{0,14})$/;

/** A parameter's rule in words, from its schema. */
function describeRule(schema: TSchema): string {
  if ('enum' in schema) return `must be one of ${(schema.enum as readonly string[]).join(', ')}`;
  if ('minimum' in schema && 'maximum' in schema)
    return `must be a plain decimal integer from ${schema.minimum} to ${schema.maximum}`;
  return 'must not be empty';
}

/**
 * Reads the query parameters that a schema names and checks them, each given once at most and never coerced but from
 * a plain decimal to the integer that it writes. Others are let by (Prefer: handling=strict refuses them).
 */
export function compileQuery(schema: TObject): Check {
  const parameters = Object.entries(schema.properties).map(([name, property]: [string, TSchema]) => ({
    name,
    isInteger: 'type' in property && property.type === 'integer',
    check: Compile(property),
    rule: describeRule(property),
  }));

  return (query) => {
    const value: Record<string, unknown> = {};
    const problems: string[] = [];
    for (const { name, isInteger, check, rule } of parameters) {
      const text = (query as Readonly<Record<string, unknown>>)[name];
      if (text === undefined) continue;
      value[name] = isInteger && typeof text === 'string' && plainDecimal.test(text) ? Number(text) : text;
      if (Array.isArray(text)) problems.push(`${name} must be given once`);
      else if (!check.Check(value[name])) problems.push(`${name} ${rule}`);
    }
    if (problems.length > 0) return { error: new AppError('invalid_parameter', problems.join('; ')) };
    return { value };
  };
}
