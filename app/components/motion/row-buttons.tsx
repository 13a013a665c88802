import { ChevronDown } from "lucide";
import type { ComponentProps, RefObject } from "react";
import { Icon } from "~/components/ui/icon";
import { Button } from "../ui/button";
import { useRow } from "./row";

/** Previous and next for a row, by most of what is in view; the mouse can also drag the row. */
export function RowButtons({ row, of }: { row: RefObject<HTMLElement | null>; of: string }) {
  const { index, atEnd } = useRow(row);
  const turn = (way: 1 | -1) => row.current?.scrollBy({ left: way * 0.8 * row.current.clientWidth });
  return (
    <>
      <TurnButton way="Previous" of={of} aria-disabled={index === 0} onClick={() => turn(-1)} />
      <TurnButton way="Next" of={of} aria-disabled={atEnd} onClick={() => turn(1)} />
    </>
  );
}

type TurnButtonProps = ComponentProps<typeof Button> & { way: "Previous" | "Next"; of: string };

/** Moves a row on or back. */
export function TurnButton({ way, of, ...props }: TurnButtonProps) {
  return (
    <Button type="button" look="icon" {...props}>
      <Icon of={ChevronDown} className={`size-5 ${way === "Next" ? "-rotate-90" : "rotate-90"}`} />
      <span className="sr-only">
        {way} {of}
      </span>
    </Button>
  );
}
