import { fuzzApi } from '../../../torture/fuzz/api.ts';
import { fuzzWire } from '../../../torture/fuzz/wire.ts';
import { testShort } from './test-short.ts';

testShort(fuzzWire, 0.05, 7, 'only complete answers in order without a 5xx');
testShort(fuzzApi, 0.03, 7, 'no answer contradicts the description or gives an animal two owners');
