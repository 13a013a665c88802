import type { ReactNode } from "react";
import { type checkCarAge, formatAmount, type Import } from "~/models/cost";
import type { CostRates } from "~/models/cost.server";

type ImportWarningsProps = {
  rates: CostRates;
  what: string | undefined;
  cargo: Import | null;
  ruling: ReturnType<typeof checkCarAge> | null;
  penalty: number | undefined;
};

export function ImportWarnings({ rates, what, cargo, ruling, penalty }: ImportWarningsProps) {
  const { years, ...age } = rates.car_age;
  const certificate = rates.no_certificate;
  const isCar = !what || what === "car";
  const latestArrivalYear = Number(cargo?.registered?.slice(0, 4)) + years - 1;
  return (
    <>
      <h2 className="text-xl">Check before you pay</h2>
      {ruling === "tooOld" && (
        <p className="mt-3 rounded-label border-2 border-failure px-4 py-3 font-semibold text-failure">
          The Kenya Bureau of Standards (KEBS) rejects this car, because it was first registered {years} or more years
          ago. Do not pay for this car.
        </p>
      )}
      {ruling === "doubtful" && (
        <p className="mt-3 rounded-label border-2 border-attention px-4 py-3 font-semibold">
          The Kenya Bureau of Standards (KEBS) may reject this car. The public notices of KEBS count calendar years
          instead of months. By that count, the car had to arrive by 31 December {latestArrivalYear}. Ask us before you
          pay.
        </p>
      )}
      <dl className="mt-3 grid gap-3 text-sm">
        {isCar && (
          <Warning name="Age limit and steering" look="border-failure" citation={age}>
            The Kenya Bureau of Standards (KEBS) rejects a car that is {years} years old or more, counted from the month
            of first registration. KEBS also rejects every car with left-hand drive.
            {ruling === "accepted" && ` Your car must arrive by 31 December ${latestArrivalYear}.`}
          </Warning>
        )}
        <Warning name="Missing certificate" look="border-attention" citation={certificate}>
          Without a certificate of conformity, you pay a penalty of {certificate.percent}% of CIF.
          {penalty !== undefined && ` For this import, the penalty is KES ${formatAmount(penalty)}.`}
        </Warning>
        {isCar && (
          <Warning name="Used cars may cost more" look="border-attention">
            The Kenya Revenue Authority taxes a used car by its own price list, with a deduction for the car's age. Your
            taxes can be higher than the taxes on the invoice price.
          </Warning>
        )}
      </dl>
    </>
  );
}

function Warning(props: {
  name: string;
  look: string;
  citation?: { date: string; source: string };
  children: ReactNode;
}) {
  const { name, look, citation, children } = props;
  return (
    <div className={`border-l-4 pl-3 ${look}`}>
      <dt className="font-semibold">{name}</dt>
      <dd>
        {children}{" "}
        {citation && (
          <span className="block text-xs text-quiet">
            {citation.date}. {citation.source}.
          </span>
        )}
      </dd>
    </div>
  );
}
