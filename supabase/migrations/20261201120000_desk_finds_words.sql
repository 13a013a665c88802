-- What the desk finds: by words and by a number as it is spoken on the telephone, as clients find it since find_by_words.

-- The patterns of the first eight words of a search; null for a search longer than any name.
create function private.words(q text) returns text[]
language sql immutable
set search_path = ''
as $$
  select case when coalesce(char_length(q), 0) <= 254 then (array(
    select private.anywhere(one) from regexp_split_to_table(coalesce(q, ''), '\s+') as one where one <> ''
  ))[:8] end
$$;
revoke all on function private.words(text) from public, anon;
grant execute on function private.words(text) to authenticated;

-- The pattern of a search as an AWB/BL without the spaces and hyphens that people write in it or leave out.
create function private.bare_number(q text) returns text
language sql immutable
set search_path = ''
as $$
  select private.anywhere(coalesce(nullif(translate(left(q, 254), ' -/.', ''), ''), q))
$$;
revoke all on function private.bare_number(text) from public, anon;
grant execute on function private.bare_number(text) to authenticated;

create index shipments_numbered on public.shipments using gin (translate(awb, ' -/.', '') extensions.gin_trgm_ops);

-- A client's own list as before, by the same patterns, and by an id with its #.
create or replace function private.own_shipments(
  q text, stage integer, turn text, skip integer, most integer, before timestamptz default null, before_id uuid default null
) returns jsonb
language plpgsql stable
security invoker
set search_path = ''
as $$
declare
  words text[];
  number text;
  ids uuid[];
  conditions text := 'shipment.user_id = $1';
  word integer;
  found jsonb;
begin
  -- A list that nobody searches is most of them.
  if btrim(q) <> '' then
    words := private.words(q);
    number := private.bare_number(q);
    ids := private.ids_beginning(ltrim(btrim(left(q, 64)), '#'));
    if words is null then
      conditions := 'false';
    elsif cardinality(words) > 0 then
      conditions := conditions
        || ' and (shipment.id between $4 and $11 or translate(shipment.awb, '' -/.'', '''') ilike $3 or (true';
      for word in 1 .. cardinality(words) loop
        conditions := conditions
          || format(' and (shipment.name ilike ($2)[%1$s] or shipment.awb ilike ($2)[%1$s])', word);
      end loop;
      conditions := conditions || '))';
    end if;
  end if;
  if stage is not null then
    conditions := conditions || ' and shipment.stage = $5';
  end if;
  if turn is not null then
    conditions := conditions || ' and shipment.turn = $6';
  end if;
  if before is not null then
    conditions := conditions || ' and (shipment.created_at, shipment.id) < ($9, $10)';
  end if;
  execute format($query$
    select coalesce(jsonb_agg(jsonb_build_object(
      'id', found.id, 'name', found.name, 'status', found.status, 'stage', found.stage, 'awb', found.awb,
      'turn', found.turn, 'changed_at', found.changed_at, 'created_at', found.created_at
    ) order by found.created_at desc, found.id desc), '[]'::jsonb)
    from (
      select shipment.* from public.shipments as shipment where %s
      order by shipment.created_at desc, shipment.id desc
      offset $7 limit $8
    ) as found
  $query$, conditions)
  into found
  using auth.uid(), words, number, ids[1], stage, turn, skip, most, before, before_id, ids[2];
  return found;
end
$$;

-- The shipments of the desk's list as before. Each word of a search has to be in the name, in the AWB/BL, or in the client's name or
-- address, or the whole search is the AWB/BL or the beginning of an id, which people also write with the # of the page.
create or replace function private.find_shipments(
  q text, stage integer, turn text, to_check boolean, skip integer, most integer,
  as_opened boolean default false, before timestamptz default null, before_id uuid default null
) returns jsonb
language plpgsql stable
set search_path = ''
as $$
declare
  bare constant text := private.bare_number(q);
  words constant text[] := private.words(q);
  ids constant uuid[] := private.ids_beginning(ltrim(btrim(left(q, 64)), '#'));
  conditions text := 'true';
  word integer;
  by_time text := case when as_opened then 'created_at' else 'changed_at' end;
  found jsonb;
begin
  if words is null then
    conditions := 'false';
  elsif cardinality(words) > 0 then
    conditions := '(shipment.id between $2 and $3 or translate(shipment.awb, '' -/.'', '''') ilike $1 or (true';
    for word in 1 .. cardinality(words) loop
      -- The clients of the word, as a constant: each row is looked up in it, and does not read it.
      conditions := conditions || format(
        ' and (shipment.name ilike ($4)[%1$s] or shipment.awb ilike ($4)[%1$s] or shipment.user_id = any (%2$L::uuid[]))',
        word,
        array(
          select users.id from auth.users
          where users.email ilike words[word] or users.raw_user_meta_data ->> 'full_name' ilike words[word]
        )
      );
    end loop;
    conditions := conditions || '))';
  end if;
  if stage is not null then
    conditions := conditions || ' and shipment.stage = $5';
  end if;
  if turn is not null then
    conditions := conditions || ' and shipment.turn = $6';
  end if;
  if to_check then
    conditions := conditions || ' and shipment.id in (
      select document.shipment_id from public.documents as document where document.uploaded and not document.verified)';
  end if;
  if before is not null then
    conditions := conditions || format(' and (shipment.%s, shipment.id) < ($9, $10)', by_time);
  end if;
  execute format($query$
    select coalesce(jsonb_agg(jsonb_build_object(
      'id', found.id, 'name', found.name, 'awb', found.awb, 'stage', found.stage, 'status', found.status,
      'turn', found.turn, 'changed_at', found.changed_at, 'created_at', found.created_at, 'version', found.version,
      'client', account.raw_user_meta_data ->> 'full_name', 'email', account.email
    ) order by found.%2$s desc, found.id desc), '[]'::jsonb)
    from (
      select * from public.shipments as shipment where %1$s
      order by shipment.%2$s desc, shipment.id desc
      offset $7 limit $8
    ) as found
    join auth.users as account on account.id = found.user_id
  $query$, conditions, by_time)
  into found
  using bare, ids[1], ids[2], words, stage, turn, skip, most, before, before_id;
  return found;
end
$$;

-- /desk/clients as before. Each word of a search has to be in the name or the address, or the whole search is a client ID as
-- people type it: with or without its dashes, in any case, with O, I and L for the digits they mean.
create or replace function public.desk_clients(q text default null, page integer default 1, opened uuid default null) returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
declare
  words constant text[] := private.words(q);
  typed_id constant text := upper(btrim(left(q, 64)));
begin
  if not private.is_colleague() then
    return jsonb_build_object('caller', private.caller());
  end if;
  return jsonb_build_object(
    'caller', private.caller(),
    'clients', case when opened is not null then '[]'::jsonb else (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', account.id, 'name', account.raw_user_meta_data ->> 'full_name', 'email', account.email,
        'created_at', account.created_at, 'closed', coalesce(account.banned_until > now(), false),
        'confirmed', account.email_confirmed_at is not null
      ) order by account.created_at desc, account.id desc), '[]'::jsonb)
      from (
        select * from auth.users
        where not exists (select from public.colleagues where colleagues.account = users.id)
          and (
            (words is not null and not exists (
              select from unnest(words) as word
              where not (users.email ilike word or coalesce(users.raw_user_meta_data ->> 'full_name', '') ilike word)
            ))
            or users.id in (
              select claimed_by from public.client_ids
              where client_id in (
                typed_id, regexp_replace(translate(typed_id, 'OIL -', '011'), '(.{4})(?!$)', '\1-', 'g')
              )
            )
          )
        order by users.created_at desc, users.id desc
        offset (greatest(page, 1) - 1) * 20 limit 21
      ) as account
    ) end,
    'opened', (
      select jsonb_build_object(
        'id', account.id, 'name', account.raw_user_meta_data ->> 'full_name', 'email', account.email,
        'created_at', account.created_at, 'last_sign_in_at', account.last_sign_in_at,
        'closed', coalesce(account.banned_until > now(), false), 'confirmed', account.email_confirmed_at is not null,
        'client_id', (select client_id from public.client_ids where claimed_by = account.id),
        'factors', (
          select count(*) from auth.mfa_factors as factor where factor.user_id = account.id and factor.status = 'verified'
        ),
        'erasure_asked_at', (
          select request.asked_at from private.erasure_requests as request where request.account = account.id
        ),
        'kept_until', (select max(retain_until) from public.shipments where user_id = account.id),
        'shipments', (
          select coalesce(jsonb_agg(jsonb_build_object(
            'id', shipment.id, 'name', shipment.name, 'stage', shipment.stage, 'status', shipment.status,
            'turn', shipment.turn, 'changed_at', shipment.changed_at
          ) order by shipment.changed_at desc, shipment.id desc), '[]'::jsonb)
          from (
            select * from public.shipments where user_id = account.id order by created_at desc, id desc limit 20
          ) as shipment
        ),
        'log', private.shown_acts(array(
          select entry from public.acts as entry where entry.account = account.id
          order by entry.at desc, entry.id desc limit 8
        ))
      )
      from auth.users as account
      where account.id = desk_clients.opened
        and not exists (select from public.colleagues where colleagues.account = desk_clients.opened)
    )
  );
end
$$;
