import type { ReactNode } from "react";
import { formatAmount } from "~/models/cost";
import type { CitedRates } from "~/models/cost.server";

/** `registeredYear` is NaN if the import is not a car. */
export function ImportWarnings(props: {
  rates: CitedRates;
  isCar: boolean;
  oldestYear: number;
  registeredYear: number;
  penalty: number | undefined;
}) {
  const { rates, isCar, oldestYear, registeredYear, penalty } = props;
  const { years, citation } = rates.car_age;
  const certificate = rates.no_certificate;
  const lastArrivalYear = registeredYear + years - 1;
  return (
    <>
      <h2 className="text-xl">Check before you pay</h2>
      {registeredYear < oldestYear && (
        <p className="mt-3 rounded-label border-2 border-failure px-4 py-3 font-semibold text-failure">
          The Kenya Bureau of Standards (KEBS) rejects this car, because it was first registered before {oldestYear}. Do
          not pay for this car.
        </p>
      )}
      {registeredYear === oldestYear && (
        <p className="mt-3 rounded-label border-2 border-attention px-4 py-3 font-semibold">
          The Kenya Bureau of Standards (KEBS) rejects this car if it arrives after 31 December {lastArrivalYear}. Ask
          us before you pay.
        </p>
      )}
      <dl className="mt-3 grid gap-3 text-sm">
        {isCar && (
          <Warning name="Age limit and steering" look="border-failure" citation={citation}>
            A car must be under {years} years old, counted in calendar years from its first registration. The Kenya
            Bureau of Standards (KEBS) now rejects cars first registered before {oldestYear}. On each 1 January, the
            oldest allowed year increases by one. KEBS also rejects every car with left-hand drive.
            {registeredYear > oldestYear && ` Your car must arrive by 31 December ${lastArrivalYear}.`}
          </Warning>
        )}
        <Warning name="Missing certificate of conformity" look="border-attention" citation={certificate.citation}>
          Without a certificate of conformity, you pay a penalty of {certificate.percent}% of CIF (price, freight and
          insurance).
          {penalty !== undefined && ` For this import, the penalty is KES ${formatAmount(penalty)}.`}
        </Warning>
        {isCar && (
          <Warning name="How used cars are taxed" look="border-attention" citation={rates.car_price_list.citation}>
            To tax a used car, the Kenya Revenue Authority uses its own price list, with a deduction for the car's age.
            Your taxes can be higher than our estimate from the invoice price.
          </Warning>
        )}
      </dl>
    </>
  );
}

function Warning(props: { name: string; look: string; citation: string; children: ReactNode }) {
  const { name, look, citation, children } = props;
  return (
    <div className={`border-l-4 pl-3 ${look}`}>
      <dt className="font-semibold">{name}</dt>
      <dd>
        {children} <span className="block text-xs text-quiet">{citation}</span>
      </dd>
    </div>
  );
}
