import { useRef } from "react";
import { Form, Link } from "react-router";
import { useMotion } from "~/components/motion";
import { Art } from "~/components/site/art";
import { showToastInsteadOfSubmit } from "~/components/ui/toast-state";
import { industryToast } from "~/models/not-yet";
import { createContactUrl } from "./search-terms";
import type { HomeData } from "./sections";
import { Stop } from "./stop";

/** Visitors can scroll the row by touch, wheel or arrow keys. JavaScript adds dragging and buttons. */
export function Industries({ industries }: HomeData) {
  const row = useRef<HTMLElement>(null);
  const motion = useMotion();
  return (
    <Stop
      id="industries"
      title="Industries we serve"
      intro="Scroll to see ten industries. Each industry needs different documents."
    >
      <section
        ref={row}
        aria-label="The ten industries"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable row must be reachable by keyboard
        tabIndex={0}
        className="carousel -mr-4 -ml-1.5 lg:mr-0 snap-x snap-proximity scroll-pl-1.5 overflow-x-auto scroll-smooth p-1.5 pr-4 pb-4"
      >
        <ul className="flex w-max gap-3">
          {industries.map(({ id, name, text }) => (
            <li
              key={id}
              className="relative flex w-56 snap-start flex-col rounded-label border border-line bg-raised transition-[border-color] duration-150 ease-out hover:border-edge"
            >
              <Form
                method="post"
                action="/actions/industries"
                onSubmit={(event) => showToastInsteadOfSubmit(event, industryToast(name))}
                className="flex grow"
              >
                <input type="hidden" name="industry" value={id} />
                <button type="submit" className="flex grow flex-col items-start p-5 pb-2 text-left">
                  <Art name={`industry-${id}`} className="size-16" />
                  <span className="mt-4 font-semibold">{name} </span>
                  <span className="mt-1 text-sm text-quiet">{text}</span>
                </button>
              </Form>
              <Link
                to={createContactUrl(name)}
                className="flex min-h-11 items-center px-5 pb-2 text-sm font-semibold underline"
              >
                Ask us<span className="sr-only">: {name}</span>
              </Link>
            </li>
          ))}
        </ul>
      </section>
      <div className="hidden h-11 gap-1 scripted:flex">
        {motion && <motion.CarouselButtons row={row} itemName="industries" />}
      </div>
    </Stop>
  );
}
